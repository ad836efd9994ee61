//! TLS over a connection, by the library `rustls`.

use super::wire::{Link, Wire};
use super::{Account, failure};
use anyhow::Context;
use executor::Cancelled;
use hypertext_http::trust;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{CertificateError, ClientConfig, ClientConnection, Error, RootCertStore};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Starts TLS with the server of one account.
pub(super) struct Client {
    config: Arc<ClientConfig>,
    host: ServerName<'static>,
}

impl Client {
    /// Creates a client that trusts the certificates of the system and the certificates of the account.
    pub(super) fn new(account: &Account) -> io::Result<Client> {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(trust::system().iter().cloned());
        if let Some(path) = &account.ca {
            let broken = || failure("the file that `ca` names has no PEM certificates, or cannot be read");
            let certificates =
                CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
            let (added, ignored) = roots.add_parsable_certificates(certificates.map_err(|_| broken())?);
            if added == 0 || ignored > 0 {
                return Err(broken());
            }
        }
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(tls_failure)?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let host = ServerName::try_from(account.host.clone())
            .map_err(|_| failure("its host is neither a name nor an address, so no certificate fits"))?;
        Ok(Client { config: Arc::new(config), host })
    }

    /// Performs the handshake, and checks that the certificate is trusted and belongs to the account's
    /// host.
    pub(super) fn begin(&self, wire: &mut Wire) -> io::Result<()> {
        wire.encrypt(|mut link| {
            let mut connection =
                ClientConnection::new(Arc::clone(&self.config), self.host.clone()).map_err(tls_failure)?;
            connection.complete_io(&mut link).map_err(handshake_failure)?;
            Ok(Box::new(StreamOwned::new(connection, link)))
        })
    }
}

fn handshake_failure(error: io::Error) -> io::Error {
    match Cancelled::from_io(error).map_err(io::Error::downcast::<Error>) {
        Ok(cancelled) => cancelled.into(),
        Err(Ok(error)) => tls_failure(error),
        Err(Err(error)) if error.kind() == io::ErrorKind::UnexpectedEof => {
            failure("the server closed the connection instead of beginning TLS")
        }
        Err(Err(error)) => failure(format!("TLS: {error}")),
    }
}

fn tls_failure(error: Error) -> io::Error {
    let why = trust::distrust(&error).unwrap_or_else(|| error.to_string());
    let is_unknown = matches!(error, Error::InvalidCertificate(CertificateError::UnknownIssuer));
    failure(format!("TLS: {why}{}", if is_unknown { "; `ca` can name one" } else { "" }))
}

/// The certificate and key of a server: a chain of certificates, and the private key of the first
/// certificate.
#[derive(Debug, Clone)]
pub struct Identity(Arc<ServerConfig>);

impl Identity {
    /// Reads an identity from two PEM files.
    ///
    /// # Errors
    /// Fails if one of the files cannot be read, or if the key does not belong to the first certificate.
    pub fn read(certificates: &Path, key: &Path) -> anyhow::Result<Identity> {
        let chain = CertificateDer::pem_file_iter(certificates).and_then(Iterator::collect);
        let chain: Vec<_> = chain.with_context(|| format!("{} is no PEM file", certificates.display()))?;
        let key =
            PrivateKeyDer::from_pem_file(key).with_context(|| format!("{} is no key", key.display()))?;
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(chain, key)?;
        Ok(Identity(Arc::new(config)))
    }

    pub(super) fn serve(&self, mut link: Box<dyn Link>) -> io::Result<Box<dyn Link>> {
        let mut connection = ServerConnection::new(Arc::clone(&self.0)).map_err(tls_failure)?;
        connection.complete_io(&mut link).map_err(handshake_failure)?;
        Ok(Box::new(StreamOwned::new(connection, link)))
    }
}
