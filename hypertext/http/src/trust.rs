//! Decides which servers are trusted: servers with a certificate of an authority that the system trusts.

use rustls::pki_types::CertificateDer;
use rustls::{CertificateError, Error};
use std::sync::OnceLock;

/// Returns the certificates of the authorities that the system trusts, or the certificates in the file that
/// `SSL_CERT_FILE` names. The certificates are read only once, because there are more than a hundred of them.
pub fn system() -> &'static [CertificateDer<'static>] {
    static CERTIFICATES: OnceLock<Vec<CertificateDer<'static>>> = OnceLock::new();
    // A certificate that cannot be read is not trusted; a connection to a server that needs this
    // certificate fails with an error.
    CERTIFICATES.get_or_init(|| rustls_native_certs::load_native_certs().certs)
}

/// Returns what is wrong with the certificate of a server, if the error is a certificate error.
pub fn distrust(error: &Error) -> Option<String> {
    let Error::InvalidCertificate(error) = error else { return None };
    Some(match error {
        CertificateError::UnknownIssuer => {
            "the server's certificate is signed by no trusted authority".to_owned()
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "the server's certificate is for another host".to_owned()
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "the server's certificate has expired".to_owned()
        }
        other => format!("the server's certificate is refused: {other}"),
    })
}
