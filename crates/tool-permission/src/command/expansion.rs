//! What begins with a dollar, a backquote or `<(`.

use super::arithmetic::unpaired;
use super::parser::Parser;
use super::reading::Stop;
use super::tree::{List, Split, Word};
use super::word::Place;

impl Parser<'_, '_> {
    /// A dollar and what it begins, or the character itself.
    pub(super) fn dollar(&mut self, word: &mut Word, place: Place) -> Result<(), Stop> {
        let start = self.cursor.at();
        self.cursor.bump();
        let bare = place.is_bare();
        match self.cursor.peek() {
            Some(b'(') => {
                self.cursor.bump();
                let runs = if self.cursor.peek() == Some(b'(') {
                    self.cursor.bump();
                    let inner = self.cursor.at();
                    let runs = self.arithmetic()?;
                    self.reading.steps += self.cursor.since(inner).len();
                    if unpaired(self.cursor.since(inner)) {
                        return Err(Stop("`$((` begins commands or arithmetic"));
                    }
                    runs
                } else {
                    vec![self.parenthesised()?]
                };
                let split = fields_if(bare);
                word.expansion(self.cursor.since(start), split, runs);
            }
            Some(b'{') => {
                self.cursor.bump();
                let (split, runs) = self.braces(place)?;
                word.expansion(self.cursor.since(start), split, runs);
            }
            Some(b'[') => return Err(Stop("arithmetic is written in an outdated way")),
            Some(b'\'') if bare => self.ansi_c(word)?,
            Some(b'"') if bare => self.double(word)?,
            Some(b'\'' | b'"') if matches!(place, Place::Braces | Place::BodyBraces) => {
                return Err(Stop("quotes in an expansion can be read in two ways"));
            }
            Some(byte) if byte.is_ascii_alphabetic() || byte == b'_' => {
                let name = self.cursor.name();
                let split = match name.as_str() {
                    "IFS" if bare => self.blank(),
                    _ => fields_if(bare),
                };
                word.expansion(self.cursor.since(start), split, Vec::new());
            }
            Some(byte) if byte.is_ascii_digit() || SPECIAL.contains(&byte) => {
                self.cursor.bump();
                let split = fields_if(bare || byte == b'@');
                word.expansion(self.cursor.since(start), split, Vec::new());
            }
            _ if bare => word.plain('$'),
            _ => word.quoted('$'),
        }
        Ok(())
    }

    fn blank(&mut self) -> Split {
        self.reading.takes_ifs = true;
        Split::Blank
    }

    /// A list up to the closing parenthesis, behind the opening one.
    pub(super) fn parenthesised(&mut self) -> Result<List, Stop> {
        let outside = std::mem::take(&mut self.pending);
        let owes_body = self.owes_body;
        let in_parentheses = std::mem::replace(&mut self.in_parentheses, true);
        let has_document = std::mem::replace(&mut self.has_document, false);
        let in_inner_array = std::mem::replace(&mut self.in_inner_array, false);
        self.owes_body = owes_body || !outside.is_empty();

        let list = self.list()?;
        self.expect(b')')?;
        if !self.pending.is_empty() {
            return Err(Stop("a here-document has no body"));
        }
        self.pending = outside;
        self.owes_body = owes_body;
        self.in_parentheses = in_parentheses;
        self.in_inner_array = in_inner_array;
        self.has_document = self.has_document || has_document;
        Ok(list)
    }

    /// `<(..)` or `>(..)`
    pub(super) fn process_substitution(&mut self, word: &mut Word) -> Result<(), Stop> {
        self.reading.only_bash = true;
        let start = self.cursor.at();
        self.cursor.bump();
        self.expect(b'(')?;
        let list = self.parenthesised()?;
        word.expansion(self.cursor.since(start), Split::Never, vec![list]);
        Ok(())
    }

    /// `` `..` ``, whose text is unescaped before it is read.
    pub(super) fn backquoted(&mut self, word: &mut Word, place: Place) -> Result<(), Stop> {
        let start = self.cursor.at();
        self.cursor.bump();
        let mut text = String::new();
        loop {
            match self.cursor.char() {
                None => return Err(Stop("a backquote is not closed")),
                Some('`') => break,
                Some('\\') => match self.cursor.char() {
                    None => return Err(Stop("a backquote is not closed")),
                    Some(char @ ('`' | '\\' | '$')) => text.push(char),
                    // Lines are joined here before quotes and comments are seen.
                    Some('\n') => {}
                    Some('"') if place == Place::Double => text.push('"'),
                    Some('"') if !place.is_bare() => {
                        return Err(Stop("quotes in backquotes can be read in two ways"));
                    }
                    Some(char) => {
                        text.push('\\');
                        text.push(char);
                    }
                },
                Some(char) => text.push(char),
            }
        }
        let list = self.inner_text(&text)?;
        let split = fields_if(place.is_bare());
        word.expansion(self.cursor.since(start), split, vec![list]);
        Ok(())
    }

    /// A whole text of its own that runs as a part of this one.
    fn inner_text(&mut self, text: &str) -> Result<List, Stop> {
        self.reading.enter()?;
        let mut list = List::default();
        Parser::new(text, &mut *self.reading).whole(text, &mut list)?;
        self.reading.leave();
        Ok(list)
    }

    /// `${..}` behind the brace: what may become of it, and what it runs.
    fn braces(&mut self, place: Place) -> Result<(Split, Vec<List>), Stop> {
        self.reading.enter()?;
        let mut inner = Word::default();
        let split = self.parameter(place, &mut inner)?;
        self.reading.leave();
        Ok((split, inner.into_runs().collect()))
    }

    fn parameter(&mut self, place: Place, inner: &mut Word) -> Result<Split, Stop> {
        let bare = place.is_bare();
        // `!` and `#` are operators before a name, and names of their own.
        let indirect = self.cursor.peek() == Some(b'!') && self.operates();
        let length = self.cursor.peek() == Some(b'#') && self.operates();
        if indirect || length {
            self.cursor.bump();
        }
        let name = match self.cursor.peek() {
            Some(byte) if byte.is_ascii_digit() => self.cursor.eat_while(|b| b.is_ascii_digit()),
            Some(byte) if SPECIAL.contains(&byte) => {
                self.cursor.bump();
                char::from(byte).into()
            }
            _ => self.cursor.name(),
        };
        if name.is_empty() {
            return Err(Stop("an expansion names no variable"));
        }
        let mut many = bare || name == "@" || indirect;
        if self.cursor.peek() == Some(b'[') {
            let start = self.cursor.at();
            let runs = self.subscript()?;
            many = many || self.cursor.since(start) == "[@]";
            inner.expansion("", Split::Never, runs);
        }
        // What another variable names may have a subscript.
        self.reading.evaluates = self.reading.evaluates || indirect;
        let split = match (name.as_str(), self.cursor.peek()) {
            ("IFS", Some(b'}')) if bare && !indirect && !length => self.blank(),
            _ => fields_if(many),
        };
        match self.cursor.peek() {
            Some(b'}') => {}
            Some(b'@') => {
                if self.cursor.second() == Some(b'P') {
                    self.reading.hidden = Some(Stop("an expansion runs what a variable holds"));
                }
            }
            Some(b':') => match self.cursor.second() {
                Some(b'=') => self.note_set(&name, indirect),
                Some(b'-' | b'?' | b'+') => {}
                _ => {
                    self.offsets(inner)?;
                    return Ok(split);
                }
            },
            Some(b'=') => self.note_set(&name, indirect),
            Some(b'-' | b'?' | b'+' | b'#' | b'%' | b'/' | b'^' | b',' | b'*') => {}
            _ => return Err(Stop("an expansion has no known operator")),
        }
        self.operand(place, inner)?;
        self.reading.note_text(inner);
        Ok(split)
    }

    /// Whether the next character stands before a name and is none itself.
    fn operates(&mut self) -> bool {
        self.cursor.second().is_some_and(|byte| {
            byte.is_ascii_alphanumeric() || byte == b'_' || b"@*#?$!-".contains(&byte)
        }) && !self.cuts()
    }

    /// Whether `${#-..}` or the like begins: `#` as a name with an operator behind it.
    fn cuts(&mut self) -> bool {
        let here = self.cursor.at();
        self.cursor.bump();
        let operator = matches!(self.cursor.peek(), Some(b'#' | b'?' | b'-' | b'!' | b'$'));
        let closes = self.cursor.second() == Some(b'}');
        self.cursor.back_to(here);
        operator && !closes
    }

    fn note_set(&mut self, name: &str, indirect: bool) {
        if indirect {
            self.reading.hidden = Some(Stop("an expansion sets a variable that is not named"));
        } else {
            self.reading.sets.push(name.to_owned());
        }
    }

    /// The rest of `${..}` up to its closing brace. Quotes in it must read the same whether they
    /// quote or not, where bash decides that by the operator.
    fn operand(&mut self, place: Place, inner: &mut Word) -> Result<(), Stop> {
        let inside = match place {
            Place::Bare => Place::Bare,
            Place::Body | Place::BodyBraces => Place::BodyBraces,
            Place::Double | Place::Count | Place::Braces => Place::Braces,
        };
        loop {
            match self.cursor.peek() {
                None => return Err(Stop("an expansion is not closed")),
                Some(b'}') => {
                    self.cursor.bump();
                    return Ok(());
                }
                Some(b'"') if inside == Place::BodyBraces => {
                    return Err(Stop("quotes in an expansion can be read in two ways"));
                }
                Some(b'"') if inside == Place::Braces => self.inner_quotes(inner)?,
                Some(b'\'') if !inside.is_bare() => {
                    let mut quoted = Word::default();
                    self.single(&mut quoted)?;
                    if quoted.known().contains(['"', '\\', '$', '`', '}']) {
                        return Err(Stop("quotes in an expansion can be read in two ways"));
                    }
                }
                Some(b'$') => self.dollar(inner, inside)?,
                Some(b'`') => self.backquoted(inner, inside)?,
                Some(b'<' | b'>') if !inside.is_bare() => self.cursor.bump(),
                _ => self.part(inner)?,
            }
        }
    }
}

impl Parser<'_, '_> {
    /// Double quotes in an expansion in double quotes. They are taken away before the rest is
    /// read again, so that characters on both sides may come together.
    fn inner_quotes(&mut self, inner: &mut Word) -> Result<(), Stop> {
        let start = self.cursor.at();
        let mut quoted = Word::default();
        self.double(&mut quoted)?;
        if self.cursor.since(start).contains('\\') || quoted.known().contains(['$', '`']) {
            return Err(Stop("quotes in an expansion can be read in two ways"));
        }
        inner.pieces.extend(quoted.pieces);
        Ok(())
    }
}

fn fields_if(many: bool) -> Split {
    if many { Split::Fields } else { Split::Never }
}

const SPECIAL: &[u8] = b"@*#?-$!";
