//! Protobuf messages under construction.

use quick_protobuf::Writer;

/// A message under construction.
#[derive(Default)]
pub struct Message(pub Vec<u8>);

impl Message {
    pub fn varint(&mut self, number: u32, value: u64) {
        let mut writer = Writer::new(&mut self.0);
        // Writing to a vector cannot fail.
        drop(writer.write_with_tag(number << 3, |w| w.write_uint64(value)));
    }

    pub fn int(&mut self, number: u32, value: i64) {
        self.varint(number, value.cast_unsigned());
    }

    pub fn bytes(&mut self, number: u32, value: &[u8]) {
        let mut writer = Writer::new(&mut self.0);
        drop(writer.write_with_tag(number << 3 | 2, |w| w.write_bytes(value)));
    }

    pub fn double(&mut self, number: u32, value: f64) {
        let mut writer = Writer::new(&mut self.0);
        drop(writer.write_with_tag(number << 3 | 1, |w| w.write_double(value)));
    }

    pub fn fixed(&mut self, number: u32, value: u64) {
        let mut writer = Writer::new(&mut self.0);
        drop(writer.write_with_tag(number << 3 | 1, |w| w.write_fixed64(value)));
    }

    pub fn message(&mut self, number: u32, inner: &Message) {
        self.bytes(number, &inner.0);
    }
}
