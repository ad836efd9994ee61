//! The likely causes of the failures that the properties report.

pub const PANICS: &str = "turn() must not panic, whatever the transport does and however the bytes are cut: a piece may have no line end \
                          or several line ends, and a write may take only a part of the bytes";
pub const NOT_A_REQUEST: &str = "keep what was read until a line end comes, from turn to turn, in this connection and not outside of it. \
                                 Then the request is all that was read since the last line end, without the line end itself, and the \
                                 handler gets each request once. An empty line is a request, too. A request need not be text: cut off no \
                                 byte, and change no byte";
pub const ONE_ANSWER: &str = "the answers are written in the order of the requests, each followed by one line end. What write() has taken \
                              is written and must not come again; what it has not taken comes next";
pub const EDGE: &str = "the poller reports a direction once, when it becomes ready, and not again before the direction has returned \
                        WouldBlock. So remember in the connection, from turn to turn, that the direction is ready, and go on until it \
                        returns WouldBlock. A short piece does not mean WouldBlock, and neither does a write that takes all bytes. If a \
                        step stops for another reason, it must go on by itself when that reason is gone";
pub const SPINS: &str = "after WouldBlock, no step is possible until the poller reports this direction. A call before that keeps a core \
                         busy for nothing, and so does Again if no step is possible";
pub const INTEREST: &str = "wait to write while there is something to write (also what write() has not taken), and at no other time: a \
                            connection can nearly always be written to, so the loop would be woken without need. Wait to read unless the \
                            input has ended or too many bytes wait to be written";
pub const WAITS_FOR_NOTHING: &str = "a connection that waits for neither direction is never called again. If all requests are \
                                     answered and the input has ended, return Close; otherwise wait for a direction";
pub const READS_ON: &str = "while too many bytes wait to be written, nothing is read and no request is answered: otherwise a client that \
                            does not read its answers fills the memory";
pub const ANSWER_FIRST: &str = "a piece may have several requests in it. While one of them waits for its answer, nothing is read: \
                                otherwise a client that sends too fast fills the memory. No request may be lost";
pub const GOES_ON: &str = "the poller makes no new report for requests that were read already: when there is room for answers, answer \
                           these requests, whatever the poller has reported for this turn";
pub const CLOSES: &str = "a client that has closed its side still waits for its answers. Answer all complete requests, write all answers, \
                          and then close, in the turn in which the last answer is written";
pub const AFTER_END: &str = "after read() has returned 0, do not read again. After an error other than WouldBlock and Interrupted, return \
                             Close(Failed) at once and call nothing more. A write that takes no byte has failed, with WriteZero";
pub const WOULD_BLOCK: &str =
    "WouldBlock is no error: no byte has moved, and no byte is lost. Wait for the poller's report";
pub const INTERRUPTED: &str = "Interrupted is no error, and it does not mean WouldBlock: the direction is still ready, and the poller \
                               will not report it again. Try again";
pub const UNFINISHED: &str =
    "a request ends with a line end. If the input ends, the bytes after the last line end are no request";
pub const TOO_LONG: &str = "a request with more bytes than the limit ends the connection, whether or not its line end was read. Answer \
                            the requests before it, read no more, and close with TooLong when the answers are written. A request with \
                            exactly as many bytes as the limit is allowed";
pub const BUDGET: &str = "a turn has a limit for pieces that are read, for requests and for pieces that are written: otherwise a client \
                          that sends without a pause keeps the loop for itself. At the limit, return Again if a step is still possible";
pub const EMPTY: &str = "the buffer has no bytes: then read() returns 0, which looks like the end (a Vec has as many bytes as its len(), \
                         not as its capacity()), and write() takes no byte, which looks like an error";
pub const NO_LIMIT: &str = "a limit may be the largest number, which means no limit: do not reserve memory for it, and do not add to it";
pub const AT_SIZE: &str = "the input may be longer than any buffer, and there may be any number of requests: a buffer must grow with the \
                           bytes that it has to keep";
pub const EACH_ITS_OWN: &str = "a loop has thousands of connections on one thread, and their turns alternate: keep an unfinished request \
                                in its connection, and nowhere else";
