/* Prepares what a reader types for the theme's search, whose worker follows this text in one file.

   Words that say nothing are left out: "how do I install" is a search for "install". A word that no
   page has becomes the nearest one that some page has: "tangnet" finds "tangent". An entry of the
   reference, `jnp.where`, is found by its bare name and by longer ones: "jax.numpy.where". */
{
  const noise = new Set(
    ("a about all am an and any are as at be by can do does for from get has have how i if in is it me my of " +
      "on or should so that the there this to use was we what when where which who why with you your").split(" "),
  );
  const letters = /[\p{L}\d_][\p{L}\d_.]*/gu;
  const known = new Map(); // word -> how many sections have it

  const learn = (docs) => {
    for (const doc of docs) {
      const anchor = doc.location.split("#")[1] ?? "";
      if (doc.location.startsWith("lessons/") && anchor.includes(".")) doc.name = anchor; // an exercise
      if (anchor.startsWith("minijax.")) {
        const method = /^[A-Z]/.test(doc.title); // "sum" is jnp.sum first, then Array.sum
        doc[method ? "words" : "name"] = doc.title.replace(/.*\./, "");
      }
      const text = `${doc.title} ${doc.text} ${doc.words ?? ""} ${doc.name ?? ""}`.replace(/<[^>]*>/g, " ");
      for (const word of new Set(text.toLowerCase().match(letters))) {
        known.set(word, (known.get(word) ?? 0) + 1);
      }
    }
  };

  /* Edits that turn one word into the other: a letter more, less, different, or two exchanged. */
  const distance = (a, b) => {
    let before = [];
    let last = Array.from({ length: b.length + 1 }, (_, j) => j);
    for (let i = 1; i <= a.length; i++) {
      const row = [i];
      for (let j = 1; j <= b.length; j++) {
        row[j] = Math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] !== b[j - 1]));
        if (a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) row[j] = Math.min(row[j], before[j - 2] + 1);
      }
      [before, last] = [last, row];
    }
    return last[b.length];
  };

  const corrected = (word) => {
    const begun = [...known.keys()].some((other) => other.startsWith(word));
    if (begun || word.length < 4) return word;
    const allowed = word.length < 7 ? 1 : 2;
    const near = [...known.keys()]
      .filter((other) => Math.abs(other.length - word.length) <= allowed)
      .map((other) => ({ other, away: distance(word, other) }))
      .filter(({ away }) => away <= allowed)
      .sort((a, b) => a.away - b.away || known.get(b.other) - known.get(a.other));
    return near[0]?.other ?? word;
  };

  const named = (word) => {
    const inside = word.replace(/^((mini)?jax\.)?(numpy|jnp)\./, "jnp.").replace(/^minijax\./, "jax.");
    if (known.has(inside)) return inside;
    const bare = inside.replace(/.*\./, ""); // of "x.sum"
    return known.has(bare) ? bare : inside.replace(/^jax\./, "");
  };

  const prepared = (query) => {
    if (/["+~^:*-]/.test(query)) return query; // the reader knows the search's own language
    const words = (query.toLowerCase().match(letters) ?? []).map(named);
    const telling = words.filter((word) => !noise.has(word));
    const name = `jnp.${words[0]}`; // such as "where", which says nothing in a sentence
    if (!telling.length) return words.length === 1 && known.has(name) ? name : query;
    return telling.map(corrected).join(" ");
  };

  addEventListener("message", ({ data: message }) => {
    if (message.type === 0) learn(message.data.docs);
    if (message.type === 2) message.data = prepared(message.data);
  });
}
