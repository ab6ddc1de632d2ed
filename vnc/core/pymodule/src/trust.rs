//! The class `Trust` of the Python module.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rfb::Tls;
use sessions::{Accepted, NotAHost};

/// Which servers are trusted in TLS.
#[pyclass(frozen)]
pub(crate) struct Trust {
    pub inner: sessions::Trust,
    pub required: Tls,
}

#[pymethods]
impl Trust {
    /// With neither a fingerprint nor authorities (DER), any server is trusted.
    #[new]
    #[pyo3(signature = (host, fingerprint = None, authorities = None))]
    fn new(host: &str, fingerprint: Option<[u8; 32]>, authorities: Option<Vec<Vec<u8>>>) -> PyResult<Self> {
        let (accepted, required) = match (fingerprint, authorities) {
            (Some(fingerprint), _) => (Accepted::Fingerprint(fingerprint), Tls::Certificate),
            (None, Some(authorities)) => (Accepted::Authorities(authorities), Tls::Certificate),
            (None, None) => (Accepted::Any, Tls::Anonymous),
        };
        let trust = sessions::Trust::new(host, accepted);
        let refused =
            |NotAHost| PyValueError::new_err(format!("{host:?} is neither a DNS name nor an address"));
        Ok(Self { inner: trust.map_err(refused)?, required })
    }
}
