//! A thread reads from a socket. Another thread first drops its clone of the stream, and then shuts the
//! stream down.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::thread;

pub fn run() -> String {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (mut stream, _) = listener.accept().unwrap();
    let [dropped, shut] = [(); 2].map(|()| stream.try_clone().unwrap());

    let mut read_one = move || -> io::Result<usize> { stream.read(&mut [0]) };
    let reader = thread::spawn(move || (read_one(), read_one));
    drop(dropped);
    client.write_all(b"x").unwrap();
    let (first, read_one) = reader.join().unwrap();

    let reader = thread::spawn(read_one);
    shut.shutdown(Shutdown::Both).unwrap();
    let second = reader.join().unwrap();
    format!("after the drop: {first:?}; after the shutdown: {second:?}")
}
