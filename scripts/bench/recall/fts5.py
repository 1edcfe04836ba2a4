"""SQLite's own full text search: the `porter` tokenizer, stop words dropped from the question, any word may match."""

import sqlite3

from bm25 import words

STOP = set(
    "a about after all also am an and any are as at be because been before being but by can could did do does doing for from had has have he her "
    "here him his how i if in into is it its me my no not of off on or our out she should so some such than that the their them then there these "
    "they this those to too up us was we were what when where which who why will with would you your".split()
)


class Fts5:
    def __init__(self, texts):
        self.db = sqlite3.connect(":memory:")
        self.db.execute("CREATE VIRTUAL TABLE documents USING fts5(text, tokenize = 'porter unicode61')")
        self.db.executemany("INSERT INTO documents (rowid, text) VALUES (?, ?)", enumerate(texts))
        # What a text is cut into: a table of one row, whose words are listed.
        self.db.execute("CREATE VIRTUAL TABLE one USING fts5(text, tokenize = 'porter unicode61')")
        self.db.execute("CREATE VIRTUAL TABLE cut USING fts5vocab(one, 'row')")
        self.db.execute("CREATE VIRTUAL TABLE known USING fts5vocab(documents, 'row')")

    def terms(self, query):
        return {word for word in words(query) if word not in STOP}

    def scores(self, query):
        """(score, document) of all that hold any word, best first; ties by place."""
        asked = " OR ".join(f'"{word}"' for word in sorted(self.terms(query)))
        if not asked:
            return []
        found = self.db.execute("SELECT -bm25(documents), rowid FROM documents WHERE documents MATCH ? ORDER BY 1 DESC, 2", (asked,))
        return found.fetchall()

    def stems(self, text):
        """Different stems of a text, without stop words."""
        self.db.execute("DELETE FROM one")
        self.db.execute("INSERT INTO one (text) VALUES (?)", (" ".join(word for word in words(text) if word not in STOP),))
        return {stem for (stem,) in self.db.execute("SELECT term FROM cut")}

    def holding(self, stem):
        """How many documents hold a stem."""
        row = self.db.execute("SELECT doc FROM known WHERE term = ?", (stem,)).fetchone()
        return row[0] if row else 0
