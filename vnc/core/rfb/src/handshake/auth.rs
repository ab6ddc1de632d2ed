//! VNC authentication (RFC 6143 7.2.2): the client encrypts a challenge with DES; the key is the password.

use des::Des;
use des::cipher::{BlockCipherEncrypt, KeyInit};

/// Return the response to `challenge`: two DES blocks. The key is the first eight bytes of the password, with the bits of
/// each byte reversed.
pub(crate) fn response(password: &[u8], challenge: [u8; 16]) -> [u8; 16] {
    let mut key = [0; 8];
    for (slot, byte) in key.iter_mut().zip(password) {
        *slot = byte.reverse_bits();
    }
    let cipher = Des::new(&key.into());
    let mut out = challenge;
    for block in out.as_chunks_mut::<8>().0 {
        cipher.encrypt_block(block.into());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_answers() {
        // The last one is DES of zeros with the key zero; tests/handshake.rs has a whole response from OpenSSL.
        let challenge: [u8; 16] = (0..16).collect::<Vec<u8>>().try_into().unwrap();
        assert_eq!(
            response(b"password", challenge),
            response(b"password, of which eight bytes count", challenge)
        );
        assert_ne!(response(b"passwore", challenge), response(b"password", challenge));
        assert_eq!(response(b"", [0; 16])[..8], [0x8c, 0xa6, 0x4d, 0xe9, 0xc1, 0xb1, 0x23, 0xa7]);
    }
}
