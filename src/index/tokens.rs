//! The analysis of text: one for the fields of the index, the profiles of sessions and the queries, so that they match.
//!
//! Fold (NFKC, case, accents), cut into compounds and their parts, drop stop words, stem English words; scripts written without spaces
//! become pairs of characters. A change here changes what old indexes hold: raise `schema::FORMAT`, unless words that were found are found
//! as before and the others can wait until an index is built anew, as those with unseen characters in them do.

use super::compound::{Atom, Form, MAX_ATOMS, MAX_RUN, forms, is_joint};
use super::fold::{is_unspaced, is_word, normalise, push_folded, unmask};
use std::borrow::Cow;
use std::collections::VecDeque;
use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

/// The longest part that is kept whole; a longer run of letters is cut. Units: bytes.
const ATOM_BYTES: usize = 64;

/// Gives the terms of a text, in its order, repeated as often as they stand there.
///
/// Shape: lower case, no white space, at most 96 bytes each; a compound gives its whole form and its parts.
pub fn terms(text: &str) -> impl Iterator<Item = String> {
    Cutter::new(text).map(|form| form.text)
}

/// Gives the terms with their places: see [`terms`].
pub fn forms_of(text: &str) -> impl Iterator<Item = Form> {
    Cutter::new(text)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Lower,
    Upper,
    Digit,
    Other,
}

fn class(c: char) -> Class {
    match c {
        c if c.is_ascii_digit() || c.is_numeric() => Class::Digit,
        c if c.is_uppercase() => Class::Upper,
        c if c.is_lowercase() => Class::Lower,
        _ => Class::Other,
    }
}

/// Cuts a text into forms, a compound at a time; holds no more than one compound (D13).
struct Cutter<'a> {
    text: Cow<'a, str>,
    at: usize,
    position: usize,
    ready: VecDeque<Form>,
    atoms: Vec<Atom>,
    /// The part being read: its characters with their case, and what joins it.
    part: Vec<char>,
    joint: String,
    start: usize,
}

impl<'a> Cutter<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text: normalise(text),
            at: 0,
            position: 0,
            ready: VecDeque::new(),
            atoms: Vec::new(),
            part: Vec::new(),
            joint: String::new(),
            start: 0,
        }
    }

    fn peek(&self) -> Option<char> {
        self.text.get(self.at..)?.chars().next()
    }

    fn peek_after(&self, c: char) -> Option<char> {
        self.text.get(self.at + c.len_utf8()..)?.chars().next()
    }

    /// Reads on until something is ready; false at the end of the text.
    fn read(&mut self) -> bool {
        while self.ready.is_empty() {
            let Some(c) = self.peek() else {
                self.flush();
                return !self.ready.is_empty();
            };
            if is_unspaced(c) {
                self.flush();
                self.pairs();
            } else if is_word(c) {
                self.letter(c);
            } else {
                self.between(c);
            }
        }
        true
    }

    fn letter(&mut self, c: char) {
        if self.part.is_empty() {
            if self.atoms.len() >= MAX_ATOMS || !is_joint(&self.joint) {
                self.flush();
            }
            if self.atoms.is_empty() {
                self.start = self.at;
                self.joint.clear();
            }
        } else if let Some(&last) = self.part.last() {
            let (before, now) = (class(last), class(c));
            let border = match (before, now) {
                (Class::Digit, Class::Digit) => false,
                (Class::Digit, _) | (_, Class::Digit) | (Class::Lower, Class::Upper) => true,
                _ => false,
            };
            if border {
                self.end_part();
                if self.atoms.len() >= MAX_RUN {
                    self.flush();
                    self.start = self.at;
                }
            } else if before == Class::Upper && now == Class::Lower && self.part.len() > 1 {
                // `HTTPServer` is http + server, but `URLs` and `IPv6` are not cut before their last letter.
                let tail = self.peek_after(c).is_none_or(|n| class(n) != Class::Lower);
                if !tail {
                    self.part.pop();
                    self.end_part();
                    self.part.push(last);
                }
            }
        }
        self.part.push(c);
        self.at += c.len_utf8();
        if self.part.len() >= ATOM_BYTES {
            self.flush();
        }
    }

    fn between(&mut self, c: char) {
        let next = self.peek_after(c);
        if matches!(c, '\'' | '\u{2019}') && self.part.last().is_some_and(|l| l.is_alphabetic()) {
            self.apostrophe(c, next);
            return;
        }
        self.end_part();
        self.at += c.len_utf8();
        match c {
            _ if self.atoms.is_empty() => {}
            '_' | '.' | '-' | '/' | ':' if self.joint.len() < 2 => self.joint.push(c),
            '\\' if self.joint.is_empty() => self.joint.push('/'),
            _ => self.flush(),
        }
    }

    /// `user's` is user, `don't` is dont.
    fn apostrophe(&mut self, c: char, next: Option<char>) {
        self.at += c.len_utf8();
        match next {
            Some(s @ ('s' | 'S')) if self.peek_after(s).is_none_or(|n| !is_word(n)) => {
                self.at += s.len_utf8();
                self.flush();
            }
            Some(n) if n.is_alphabetic() && !is_unspaced(n) => {}
            _ => self.flush(),
        }
    }

    fn end_part(&mut self) {
        if self.part.is_empty() {
            return;
        }
        unmask(&mut self.part);
        let mut text = String::with_capacity(self.part.len());
        for c in self.part.drain(..) {
            push_folded(c, &mut text);
        }
        let joint = std::mem::take(&mut self.joint);
        if !text.is_empty() {
            self.atoms.push(Atom { text, joint });
        }
    }

    fn flush(&mut self) {
        self.end_part();
        self.joint.clear();
        if self.atoms.is_empty() {
            return;
        }
        let ready = &mut self.ready;
        forms(&self.atoms, self.position, (self.start, self.at), |form| ready.push_back(form));
        self.position += self.atoms.len();
        self.atoms.clear();
    }

    /// Cuts a run of characters of an unspaced script into pairs; a lone one stays as it is.
    fn pairs(&mut self) {
        let mut before: Option<(char, usize)> = None;
        let mut paired = false;
        while let Some(c) = self.peek().filter(|c| is_unspaced(*c)) {
            let from = self.at;
            self.at += c.len_utf8();
            if let Some((b, start)) = before {
                self.pair(&[b, c], start);
                paired = true;
            }
            before = Some((c, from));
        }
        if let (false, Some((only, start))) = (paired, before) {
            self.pair(&[only], start);
        }
    }

    fn pair(&mut self, chars: &[char], from: usize) {
        let mut text = String::new();
        for c in chars {
            push_folded(*c, &mut text);
        }
        self.ready.push_back(Form { text, position: self.position, span: 1, from, to: self.at });
        self.position += 1;
    }
}

impl Iterator for Cutter<'_> {
    type Item = Form;

    fn next(&mut self) -> Option<Form> {
        if self.ready.is_empty() && !self.read() {
            return None;
        }
        self.ready.pop_front()
    }
}

/// The tokenizer of scored fields. Offsets are those of the normalised text.
#[derive(Clone, Default)]
pub(super) struct Words;

impl Tokenizer for Words {
    type TokenStream<'a> = FormStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> FormStream<'a> {
        FormStream::new(Cutter::new(text))
    }
}

/// Hands an iterator of forms to Tantivy.
pub(super) struct FormStream<'a> {
    forms: Box<dyn Iterator<Item = Form> + 'a>,
    token: Token,
}

impl<'a> FormStream<'a> {
    pub(super) fn new(forms: impl Iterator<Item = Form> + 'a) -> Self {
        Self { forms: Box::new(forms), token: Token::default() }
    }
}

impl TokenStream for FormStream<'_> {
    fn advance(&mut self) -> bool {
        let Some(form) = self.forms.next() else { return false };
        self.token = Token {
            offset_from: form.from,
            offset_to: form.to,
            position: form.position,
            text: form.text,
            position_length: form.span,
        };
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}

#[cfg(test)]
mod tests;
