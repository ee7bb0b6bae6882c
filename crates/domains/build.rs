//! Builds the shim around the Parma Polyhedra Library when the `ppl` feature asks for it.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(feature = "ppl")]
    {
        println!("cargo::rerun-if-changed=shim/ppl.cc");
        cc::Build::new()
            .cpp(true)
            .file("shim/ppl.cc")
            .warnings(false)
            .opt_level(2)
            .compile("palisade_ppl_shim");
        for library in ["ppl", "gmpxx", "gmp"] {
            println!("cargo::rustc-link-lib={library}");
        }
    }
}
