//! Decides which addresses are not on the public internet.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Returns true if an address is not on the public internet: it belongs to this machine, a private network, a
/// multicast group or an example, or it is reserved.
///
/// The sources are IANA's registries of special-purpose addresses (RFC 6890). A few blocks in these
/// registries contain some public addresses; this function treats such blocks as private. An IPv6 address
/// that represents an IPv4 address is judged by the IPv4 address.
pub fn is_private_address(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_private_v4(address),
        IpAddr::V6(address) => is_private_v6(address),
    }
}

fn is_private_v4(address: Ipv4Addr) -> bool {
    match address.octets() {
        [0 | 10 | 127 | 224..=255, ..] // this network, private, loopback, multicast, reserved
        | [100, 64..=127, ..] // shared by the customers of a provider (RFC 6598)
        | [169, 254, ..] // link local
        | [172, 16..=31, ..]
        | [192, 0, 0 | 2, _] // protocol assignments, documentation
        | [192, 88, 99, _] // formerly relays to 6to4
        | [192, 168, ..]
        | [198, 18..=19, ..] // benchmarks
        | [198, 51, 100, _] // documentation
        | [203, 0, 113, _] => true,
        _ => false,
    }
}

fn is_private_v6(address: Ipv6Addr) -> bool {
    let embedded =
        |high: u16, low: u16| is_private_v4(Ipv4Addr::from(u32::from(high) << 16 | u32::from(low)));
    match address.segments() {
        [0, 0, 0, 0, 0, 0xffff, high, low] // IPv4-mapped
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low] // NAT64 (RFC 6052)
        | [0x2002, high, low, ..] => embedded(high, low), // 6to4 (RFC 3056)
        [0x2001, 0..=0x1ff | 0xdb8, ..] // protocol assignments with Teredo and benchmarks, documentation
        | [0x3fff, 0..=0xfff, ..] => true, // documentation (RFC 9637)
        // The global addresses are those in 2000::/3. All other addresses are loopback, unique local, link
        // local, multicast or IPv4-compatible addresses.
        [first, ..] => first & 0xe000 != 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first and the last address of each private block.
    const BLOCKS: &[(&str, &str)] = &[
        ("0.0.0.0", "0.255.255.255"),
        ("10.0.0.0", "10.255.255.255"),
        ("100.64.0.0", "100.127.255.255"),
        ("127.0.0.0", "127.255.255.255"),
        ("169.254.0.0", "169.254.255.255"),
        ("172.16.0.0", "172.31.255.255"),
        ("192.0.0.0", "192.0.0.255"),
        ("192.0.2.0", "192.0.2.255"),
        ("192.88.99.0", "192.88.99.255"),
        ("192.168.0.0", "192.168.255.255"),
        ("198.18.0.0", "198.19.255.255"),
        ("198.51.100.0", "198.51.100.255"),
        ("203.0.113.0", "203.0.113.255"),
        ("224.0.0.0", "255.255.255.255"),
        ("::", "::fffe:ffff:ffff"),
        ("::ffff:0.0.0.0", "::ffff:0.255.255.255"),
        ("::ffff:10.0.0.0", "::ffff:10.255.255.255"),
        ("64:ff9b::192.168.0.0", "64:ff9b::192.168.255.255"),
        ("64:ff9b::224.0.0.0", "64:ff9b::255.255.255.255"),
        ("64:ff9b::1:0:0", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("2002:a9fe::", "2002:a9fe:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("4000::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
    ];

    #[test]
    fn private_blocks_have_their_bounds() {
        let address = |text: &str| text.parse::<IpAddr>().expect("an address");
        let next_to = |address: IpAddr, by: i8| -> Option<IpAddr> {
            Some(match address {
                IpAddr::V4(v4) => Ipv4Addr::from(u32::from(v4).checked_add_signed(by.into())?).into(),
                IpAddr::V6(v6) => Ipv6Addr::from(u128::from(v6).checked_add_signed(by.into())?).into(),
            })
        };
        for (first, last) in BLOCKS {
            let (first, last) = (address(first), address(last));
            assert!(is_private_address(first) && is_private_address(last), "{first} to {last}");
            for beside in [next_to(first, -1), next_to(last, 1)].into_iter().flatten() {
                let is_of_another =
                    BLOCKS.iter().any(|(first, last)| (address(first)..=address(last)).contains(&beside));
                assert_eq!(is_private_address(beside), is_of_another, "{beside}, beside {first} to {last}");
            }
        }
    }

    #[test]
    fn single_addresses_are_judged() {
        for (text, private) in [
            ("1.1.1.1", false),
            ("8.8.8.8", false),
            ("223.255.255.255", false),
            ("169.254.169.254", true),
            ("::1", true),
            ("fc00::1", true),
            ("fdff::1", true),
            ("fe80::1", true),
            ("fec0::1", true),
            ("ff02::1", true),
            ("100::1", true),
            ("2606:4700:4700::1111", false),
            ("::ffff:8.8.8.8", false),
            ("::ffff:100.64.0.1", true),
            ("::8.8.8.8", true),
            ("64:ff9b::8.8.8.8", false),
            ("64:ff9b::127.0.0.1", true),
            ("64:ff9b:1::8.8.8.8", true),
            ("2002:808:808::1", false),
            ("2002:7f00:1::1", true),
        ] {
            assert_eq!(is_private_address(text.parse().expect("an address")), private, "{text}");
        }
    }
}
