//! Numbers, texts and lists as bytes, and the file that holds them: compressed, with a sum that shows
//! damage.

/// The first line of a file.
const MAGIC: &[u8] = b"palisade certificate 1\n";
/// What a file may hold at most, so that a small one cannot ask for all memory.
const MAX_BYTES: usize = 1 << 30;

/// Why a file cannot be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Damaged(pub String);

impl std::fmt::Display for Damaged {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the certificate is damaged: {}", self.0)
    }
}

impl std::error::Error for Damaged {}

/// A complaint.
pub fn damaged<T>(why: impl Into<String>) -> Result<T, Damaged> {
    Err(Damaged(why.into()))
}

/// A sum of bytes (FNV-1a with 64 bits, from a start of one's own).
pub fn sum(start: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(start ^ 0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x100_0000_01b3))
}

/// The file for a content.
pub fn seal(content: &[u8]) -> Vec<u8> {
    let packed = miniz_oxide::deflate::compress_to_vec(content, 6);
    let mut out = MAGIC.to_vec();
    out.extend(sum(0, &packed).to_le_bytes());
    out.extend(sum(1, content).to_le_bytes());
    out.extend(packed);
    out
}

/// The content of a file.
pub fn unseal(file: &[u8]) -> Result<Vec<u8>, Damaged> {
    let Some(rest) = file.strip_prefix(MAGIC) else { return damaged("it does not start like one") };
    let (Some(sums), Some(packed)) = (rest.get(..16), rest.get(16..)) else {
        return damaged("it is too short");
    };
    if sum(0, packed).to_le_bytes() != sums[..8] {
        return damaged("its sum is wrong");
    }
    let content = miniz_oxide::inflate::decompress_to_vec_with_limit(packed, MAX_BYTES);
    match content {
        Ok(content) if sum(1, &content).to_le_bytes() == sums[8..] => Ok(content),
        _ => damaged("it cannot be unpacked"),
    }
}

/// Writes a content.
#[derive(Default)]
pub struct Writer(pub Vec<u8>);

impl Writer {
    /// A number: seven bits a byte, least significant first.
    pub fn number(&mut self, mut n: u128) {
        while n >= 0x80 {
            self.0.push(n as u8 | 0x80);
            n >>= 7;
        }
        self.0.push(n as u8);
    }

    /// A number that may be negative.
    pub fn signed(&mut self, n: i64) {
        self.number(u128::from(((n << 1) ^ (n >> 63)) as u64));
    }

    /// Bytes with their number.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u128);
        self.0.extend(bytes);
    }

    /// A list.
    pub fn list<T>(&mut self, items: &[T], mut one: impl FnMut(&mut Self, &T)) {
        self.number(items.len() as u128);
        items.iter().for_each(|item| one(self, item));
    }
}

/// Reads a content.
pub struct Reader<'b>(pub &'b [u8]);

impl<'b> Reader<'b> {
    /// A number.
    pub fn wide(&mut self) -> Result<u128, Damaged> {
        let mut value = 0u128;
        for shift in (0..133).step_by(7) {
            let Some((&byte, rest)) = self.0.split_first() else { return damaged("it ends too early") };
            self.0 = rest;
            let part = u128::from(byte & 0x7f);
            if shift == 126 && part > 3 {
                break;
            }
            value |= part << shift;
            if byte & 0x80 == 0 {
                return if byte == 0 && shift > 0 {
                    damaged("a number has leading zeros")
                } else {
                    Ok(value)
                };
            }
        }
        damaged("a number is too large")
    }

    /// A number that fits a type.
    pub fn number<T: TryFrom<u128>>(&mut self) -> Result<T, Damaged> {
        T::try_from(self.wide()?).map_err(|_| Damaged("a number is too large".into()))
    }

    /// A number that may be negative.
    pub fn signed(&mut self) -> Result<i64, Damaged> {
        let code: u64 = self.number()?;
        Ok((code >> 1) as i64 ^ -((code & 1) as i64))
    }

    /// A number below a bound.
    pub fn below(&mut self, bound: usize) -> Result<u32, Damaged> {
        let n: u32 = self.number()?;
        if (n as usize) < bound { Ok(n) } else { damaged("it names what is not there") }
    }

    /// Bytes with their number.
    pub fn bytes(&mut self) -> Result<&'b [u8], Damaged> {
        let n: usize = self.number()?;
        let Some((bytes, rest)) = self.0.split_at_checked(n) else { return damaged("it ends too early") };
        self.0 = rest;
        Ok(bytes)
    }

    /// A text.
    pub fn text(&mut self) -> Result<String, Damaged> {
        String::from_utf8(self.bytes()?.to_vec()).map_err(|_| Damaged("a text is no text".into()))
    }

    /// A list.
    pub fn list<T>(
        &mut self,
        mut one: impl FnMut(&mut Self) -> Result<T, Damaged>,
    ) -> Result<Vec<T>, Damaged> {
        let n: usize = self.number()?;
        if n > self.0.len() {
            return damaged("it ends too early");
        }
        (0..n).map(|_| one(self)).collect()
    }

    /// Nothing may follow.
    pub fn end(self) -> Result<(), Damaged> {
        if self.0.is_empty() { Ok(()) } else { damaged("something follows its end") }
    }
}
