//! The names of security types (RFC 6143 7.1.2 and the rfbproto registry), for error messages.

/// Format the security types that a server offers: `security types 2 (VNC authentication), 30 (Apple)`.
pub(crate) fn described(offered: &[u32]) -> String {
    let types: Vec<_> = offered.iter().map(|&number| one(number)).collect();
    format!("security type{} {}", if types.len() == 1 { "" } else { "s" }, types.join(", "))
}

fn one(number: u32) -> String {
    let name = match number {
        1 => "None",
        2 => "VNC authentication",
        5 | 6 | 129 | 130 => "RealVNC, encrypted",
        3..=15 | 128..=255 => "RealVNC",
        16 => "Tight",
        17 => "UltraVNC",
        18 => "TLS",
        19 => "VeNCrypt",
        20 => "SASL",
        21 => "MD5",
        22 => "xvp",
        23 => "Secure Tunnel",
        24 => "Integrated SSH",
        30..=35 => "Apple",
        113 => "UltraVNC, MS-Logon",
        _ => "unknown",
    };
    format!("{number} ({name})")
}
