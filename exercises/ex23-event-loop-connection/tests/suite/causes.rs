//! The likely causes of the failures that the properties report.

pub const PANICS: &str = "turn() does not panic, whatever the transport does and however the bytes are cut: a piece may have \
                          no line end in it, or several, and a write may take only a part of the bytes";
pub const NOT_A_REQUEST: &str = "what was read is kept until a line end comes, from turn to turn, in this connection and for \
                                 no other; then the request is all that was read since the last line end, without the line end \
                                 itself, and the handler gets each request once. An empty line is a request, too, and bytes \
                                 are bytes: no byte is cut off or changed, even if the request is not text";
pub const ONE_ANSWER: &str = "the answers are written in the order of the requests, each followed by one line end. What write() has taken is written and \
                              does not come again; what it has not taken comes next";
pub const EDGE: &str = "the poller reports a direction once, when it becomes ready, and not again before the direction has \
                        returned WouldBlock: so keep that it is ready, in the connection and for as many turns as that takes, \
                        and go on until it says so. That a piece was short, or that a write took all, does not mean \
                        WouldBlock. And what stopped for another reason goes on by itself when that is over";
pub const SPINS: &str = "after WouldBlock, no step is possible until the poller reports this direction. A call before that \
                         keeps a core busy with nothing, and so does Again if nothing can be done";
pub const INTEREST: &str = "wait to write while there is something to write (what write() has not taken, too), and at no other \
                            time: nearly always a connection could be written to, and the loop would be woken without need. \
                            Wait to read unless the input has ended or too many bytes wait to be written";
pub const WAITS_FOR_NOTHING: &str = "a connection that waits for neither direction is never called again. If all requests are \
                                     answered and the input has ended, return Close; otherwise wait for a direction";
pub const READS_ON: &str = "nothing is read and no request is answered while too many bytes wait to be written, or a client that does not read its answers \
                            fills the memory";
pub const ANSWER_FIRST: &str = "a piece may have several requests in it. Nothing is read while one of them waits for its answer, or a client that sends faster \
                                than it is answered fills the memory; and none of them may be lost";
pub const GOES_ON: &str = "what was read already is not told of again: when there is room for answers, answer the requests \
                           that were read, whatever the poller has reported for this turn";
pub const CLOSES: &str = "a client that has closed its side is not gone: it waits for its answers. Answer all complete \
                          requests, write all answers, and close then, in the turn in which the last of them is written";
pub const AFTER_END: &str = "after the end, or an error other than WouldBlock and Interrupted, nothing more comes: after 0 do not read again, after an error \
                             say Close(Failed) at once and call nothing more. A write that takes nothing has failed, with WriteZero";
pub const WOULD_BLOCK: &str =
    "WouldBlock is no error: nothing has happened, and nothing is lost. Wait for the poller's report";
pub const INTERRUPTED: &str = "Interrupted is no error, and it is not WouldBlock: nothing has happened, the direction is still \
                               ready, and the poller will not report it again. Try again";
pub const UNFINISHED: &str =
    "a request ends with a line end. What comes after the last one when the input ends is no request";
pub const TOO_LONG: &str = "a request of more bytes than the limit ends the connection, whether its line end was read or not: answer those before it, read no \
                            more, and close with TooLong when the answers are written. One with just as many bytes is allowed";
pub const BUDGET: &str = "a turn has a limit for pieces that are read, for requests and for pieces that are written, or a client that sends without a pause \
                          keeps the loop for itself. At the limit, say Again if there is more to do";
pub const EMPTY: &str = "a buffer of no bytes: read() then gives 0, which looks like the end (a Vec has as many bytes as its len(), not as its \
                         capacity()), and write() takes none, which looks like an error";
pub const NO_LIMIT: &str = "a limit may be the greatest number, which is no limit: do not reserve memory for it, and do not add to it";
pub const AT_SIZE: &str = "what comes may be longer than any buffer, and there may be any number of requests: a buffer grows with what has to be kept";
pub const EACH_ITS_OWN: &str = "a loop has thousands of connections on one thread, and their turns alternate: keep the part of \
                                a request that was read in its connection, and nowhere else";
