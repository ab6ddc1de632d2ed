//! Compiles the shim around the system's libjpeg-turbo.

fn main() {
    println!("cargo:rerun-if-changed=src/jpeg.c");
    cc::Build::new().file("src/jpeg.c").opt_level(2).compile("jpegshim");
    println!("cargo:rustc-link-lib=jpeg");
}
