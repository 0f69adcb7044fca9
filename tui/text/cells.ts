import { isNarrow } from './narrow.ts';
import { createSegmenter } from './segmenter.ts';
import stringWidth from './widths.ts';

/**
 * Replaces characters of unsure width (U+25AF). It has been one cell wide in every width table since Unicode 1.1.
 * Unlike □ (U+25A1) it is not ambiguous, and unlike ▫ (U+25AB) it is not an emoji.
 */
export const UNSURE_PLACEHOLDER = '▯';

/**
 * Characters whose width has been the same in every width table since Unicode 6.0: letters, digits, punctuation,
 * symbols and spaces that are not combined with others. Ambiguous East Asian characters count as narrow, like our
 * frame lines. Left out, in this order: emoji; invisible characters; everything but ideographs outside the first
 * plane; conjoining jamo and other letters that join their neighbours; characters whose width has changed; characters
 * newer than Unicode 6.0.
 */
const SURE_WIDTH =
  /^[[\p{L}\p{N}\p{P}\p{S}\p{Zs}]--[\p{Emoji_Presentation}\p{Default_Ignorable_Code_Point}\u{10000}-\u{1FFFF}\u{2EBF0}-\u{2F7FF}\u{30000}-\u{10FFFF}\u1100-\u11FF\uA960-\uA97F\uD7B0-\uD7FF\u0D4E\u0E33\u0EB3\uFF9E\uFF9F\u06DE\u2630-\u2637\u268A-\u268F\u3248-\u324F\u4DC0-\u4DFF\u037F\u0528-\u052F\u0560\u0588\u058D-\u058F\u05EF\u061D\u07FE-\u07FF\u0860-\u08C9\u0978\u0980\u09FC-\u09FD\u0A76\u0AF0\u0AF9\u0C34\u0C5A-\u0C5D\u0C77\u0C80-\u0C84\u0CDC-\u0CDD\u0D04\u0D4F-\u0D5F\u0D76-\u0D78\u0DE6-\u0DEF\u0E86\u0E89\u0E8C\u0E8E-\u0E93\u0E98\u0EA0\u0EA8-\u0EA9\u0EAC\u0EDE-\u0EDF\u10C7-\u10CD\u10FD-\u10FF\u13F5-\u13FD\u16F1-\u16F8\u170D\u171F\u1878\u191D-\u191E\u19B0-\u19C0\u19C8-\u19C9\u1B4C-\u1B4F\u1B7D-\u1B7F\u1BBA-\u1BBF\u1C80-\u1CC7\u1CF2-\u1CFA\u20BA-\u20C1\u218A-\u218B\u23F4-\u23FF\u2427-\u2429\u2700\u27CB\u27CD\u2B4D-\u2B4F\u2B5A-\u2BFF\u2C2F\u2C5F\u2CF2-\u2CF3\u2D27-\u2D2D\u2D66-\u2D67\u2E32-\u2E5D\u2FFC-\u2FFF\u312E-\u312F\u31BB-\u31BF\u31E4-\u31EF\u32FF\u4DB6-\u4DBF\u9FCC-\u9FFF\uA698-\uA69D\uA78F\uA792-\uA79F\uA7AA-\uA7F9\uA8FC-\uA8FE\uA9E0-\uA9FE\uAA7E-\uAA7F\uAAE0-\uAAF4\uAB30-\uABBF\uFA2E-\uFA2F\uFBC2-\uFBD2\uFD40-\uFD4F\uFD90-\uFD91\uFDC8-\uFDCF\uFDFE-\uFDFF\u{2A6D7}-\u{2A6DF}\u{2B735}-\u{2B73F}\u{2B81E}-\u{2EBEF}]]*$/v;

const segmenter = createSegmenter();

/** Reports whether every terminal draws a text with the width that we measure. */
export const hasSureWidth = (text: string): boolean => isNarrow(text) || SURE_WIDTH.test(text);

/** Replaces every character whose width terminals disagree about with a placeholder. */
export function replaceUnsureCharacters(text: string): string {
  if (hasSureWidth(text)) return text;
  const composed = text.normalize('NFC');
  if (hasSureWidth(composed)) return composed;
  return Array.from(segmenter.segment(composed), ({ segment }) =>
    SURE_WIDTH.test(segment) ? segment : UNSURE_PLACEHOLDER,
  ).join('');
}

/** Returns the most cells that a text may take on any terminal; exact if its width is sure. */
export function measureCells(text: string): number {
  if (hasSureWidth(text)) return stringWidth(text);
  let cells = 0;
  for (const { segment } of segmenter.segment(text))
    cells += SURE_WIDTH.test(segment) ? stringWidth(segment) : measureCluster(segment);
  return cells;
}

/** Some terminals draw the parts of a cluster side by side, each possible emoji in two cells. */
function measureCluster(cluster: string): number {
  let cells = 0;
  for (const part of cluster) {
    if (/[\p{M}\p{Cf}]/u.test(part)) continue;
    cells += /[\p{Emoji}\p{Regional_Indicator}]/u.test(part) ? 2 : Math.max(1, stringWidth(part));
  }
  return Math.max(1, cells, stringWidth(cluster));
}
