/**
 * Characters of one UTF-16 unit and one cell that never join their neighbours: ASCII, Latin letters, punctuation, arrows, and
 * lines, boxes and shapes without the two wide ones.
 */
export const NARROW =
  '\\u0020-\\u007e\\u00a1-\\u00ac\\u00ae-\\u02af\\u2010-\\u2027\\u2190-\\u21ff\\u2500-\\u25fc\\u25ff\\u2713\\u2717';

const NARROW_TEXT = new RegExp(`^[${NARROW}]*$`);

/** Reports whether a text takes as many cells as it has UTF-16 units. */
export const isNarrow = (text: string): boolean => NARROW_TEXT.test(text);
