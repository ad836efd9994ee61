//! Recognises answers at low cost.
//!
//! A server that answers with errors does not count as a fast server. So the load parses the first answer,
//! and compares its whole body with the expected body. The first answer gives the length that later answers
//! must have. Later answers are checked in four places: at the status, at the end of the head, at the end of
//! the body, and at the beginning of the next answer. If an answer does not pass these checks, the load
//! parses it like the first answer.

use anyhow::ensure;

/// The first body is compared completely; of each later body, only this number of bytes at its end is
/// compared.
const TAIL: usize = 16;

const STATUS: &[u8] = b"HTTP/1.1 200";
const END_OF_HEAD: &[u8] = b"\r\n\r\n";

/// The answers that one server gives to one request.
pub(super) struct Answers {
    body: Vec<u8>,
    /// The length of the first answer (head and body).
    length: Option<usize>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) length: usize,
    /// True if the client may use the connection again.
    pub(super) stays: bool,
}

impl Answers {
    pub(super) fn with_body(body: Vec<u8>) -> Answers {
        Answers { body, length: None }
    }

    /// Returns the answer at the beginning of `arrived`, if the whole answer has arrived.
    pub(super) fn next(&mut self, arrived: &[u8]) -> anyhow::Result<Option<Answer>> {
        match self.length {
            Some(length) if arrived.len() < length => return Ok(None),
            Some(length) if self.fits(arrived, length) => return Ok(Some(Answer { length, stays: true })),
            _ => {}
        }
        let answer = self.parse(arrived)?;
        if self.length.is_none()
            && let Some(Answer { length, stays: true }) = answer
        {
            self.length = Some(length);
        }
        Ok(answer)
    }

    fn fits(&self, arrived: &[u8], length: usize) -> bool {
        let (answer, next) = arrived.split_at(length);
        let (head, body) = answer.split_at(length - self.body.len());
        let tail = self.body.len().saturating_sub(TAIL);
        head.starts_with(STATUS)
            && head.ends_with(END_OF_HEAD)
            && body[tail..] == self.body[tail..]
            && next.iter().zip(STATUS).all(|(next, expected)| next == expected)
    }

    /// If the answer is complete, parses it and compares its whole body.
    pub(super) fn parse(&self, arrived: &[u8]) -> anyhow::Result<Option<Answer>> {
        let mut fields = [httparse::EMPTY_HEADER; 32];
        let mut response = httparse::Response::new(&mut fields);
        let httparse::Status::Complete(head) = response.parse(arrived)? else { return Ok(None) };
        ensure!(response.code == Some(200), "status {:?} in place of 200", response.code);
        let body = &arrived[head..];
        let body = &body[..body.len().min(self.body.len())];
        ensure!(self.body.starts_with(body), "not the body that was asked for");
        let field = |name| response.headers.iter().find(|field| field.name.eq_ignore_ascii_case(name));
        let length = field("Content-Length").and_then(|field| str::from_utf8(field.value).ok()?.parse().ok());
        ensure!(
            length == Some(self.body.len()),
            "a body of {length:?} bytes in place of {}",
            self.body.len()
        );
        let stays = !field("Connection").is_some_and(|field| field.value.eq_ignore_ascii_case(b"close"));
        Ok((body.len() == self.body.len()).then_some(Answer { length: head + body.len(), stays }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\nHello, world!";

    fn answers() -> Answers {
        Answers::with_body(b"Hello, world!".to_vec())
    }

    #[test]
    fn an_answer_is_complete_with_its_last_byte() {
        let mut answers = answers();
        let whole = Answer { length: WHOLE.len(), stays: true };
        for _first_and_later in 0..2 {
            for end in 0..WHOLE.len() {
                assert_eq!(answers.next(&WHOLE[..end]).unwrap(), None, "{end}");
            }
            assert_eq!(answers.next(WHOLE).unwrap().as_ref(), Some(&whole));
            assert_eq!(answers.next(&[WHOLE, b"HTTP/1"].concat()).unwrap().as_ref(), Some(&whole));
        }
    }

    #[test]
    fn the_last_answer_is_one_although_it_has_another_length() {
        let mut answers = answers();
        answers.next(WHOLE).unwrap();
        let last = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 13\r\n\r\nHello, world!";
        assert_eq!(answers.next(last).unwrap(), Some(Answer { length: last.len(), stays: false }));
        let short = b"HTTP/1.1 200 \r\nContent-Length: 13\r\n\r\nHello, world!";
        assert_eq!(answers.next(short).unwrap(), None, "more may come");
        assert_eq!(answers.parse(short).unwrap(), Some(Answer { length: short.len(), stays: true }));
    }

    /// Each of these answers is wrong, no matter whether it is a first answer or a later answer of the usual
    /// length.
    #[test]
    fn a_wrong_answer_is_an_error_first_and_later() {
        let text = str::from_utf8(WHOLE).unwrap();
        for wrong in [
            text.replace("200", "503"),
            text.replace("13", "14"),
            text.replace("world!", "World!"),
            text.replace("Content", "Kontent"),
        ] {
            assert!(answers().next(wrong.as_bytes()).is_err(), "{wrong}");
        }
        let mut later = answers();
        later.next(WHOLE).unwrap();
        for wrong in [text.replace("200", "503"), text.replace("world!", "World!")] {
            assert!(later.next(wrong.as_bytes()).is_err(), "{wrong}");
        }
        let shifted = [WHOLE, b"garbage"].concat();
        let over = later.next(&shifted).unwrap().unwrap();
        assert!(
            later.next(&[&shifted[over.length..], WHOLE].concat()).is_err(),
            "garbage between two answers"
        );
    }
}
