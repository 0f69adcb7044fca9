import { isTestPath, type SourceLanguage } from '../../sources/index.ts';
import { type DetectedLanguage, detectLanguage, detectScript } from './detect.ts';
import { isNearLanguage } from './near-languages.ts';
import { keepPlainText } from './plain-text.ts';
import { listCodeTexts, listProseTexts, type TextKind, type WrittenText } from './texts.ts';
import { mayBeTranslation, readTranslationLocales } from './translation-path.ts';
import { isDocument, isExcluded, type WantedLanguages } from './wanted-languages.ts';

/** A new text in a different language than its project. */
export interface LanguageFinding {
  path: string;
  line: number;
  kind: TextKind;
  /** ISO 639-1. */
  found: string;
  wanted: string;
  /** 0 to 1. */
  confidence: number;
  /** Its start. */
  excerpt: string;
  /** True if it is never a reason to refuse a write: a string in a test is often data. */
  isAdvice: boolean;
}

/** Confidence below which nothing is reported. */
const LEAST_CONFIDENCE = 0.5;
/** A name is one word: only its letters can be judged. */
const NAME_CONFIDENCE = 0.9;
/** In Latin script, fewer words are not enough. */
const FEWEST_WORDS = 4;
const PLACEHOLDER_TEXT = /\blorem ipsum\b/iu;
const IS_LATIN = /^\P{L}*\p{Script=Latin}/u;
/** The start of a longer text is enough. */
const LONGEST_JUDGED = 1500;
const LONGEST_EXCERPT = 80;
const MOST_FINDINGS = 20;

/**
 * Finds texts on new lines in a different language than wanted.
 * @param isLate called between two texts: reports whether the time is over
 */
export function checkLanguage(
  { path, text, language }: { path: string; text: string; language: SourceLanguage | null },
  newLines: Uint8Array,
  wanted: WantedLanguages,
  isLate: () => boolean = () => false,
): LanguageFinding[] {
  const isProse = language === null;
  const expected = isProse ? wanted.prose : wanted.code;
  if (expected === null || (isProse && !isDocument(path)) || isExcluded(path, wanted.exclude)) return [];
  const locales = readTranslationLocales(path);
  const isAccepted = (language: string): boolean =>
    isNearLanguage(language, expected) ||
    (locales ?? []).some((locale) => mayBeTranslation(language, locale));
  const isAnyAccepted = locales?.length === 0;
  const texts = isProse ? listProseTexts(text, newLines) : listCodeTexts(text, language, newLines);
  const found: LanguageFinding[] = [];
  for (const each of texts) {
    if (found.length === MOST_FINDINGS || isLate()) break;
    const { kind, line } = each;
    if (isAnyAccepted && (kind === 'string' || kind === 'prose')) continue;
    const isAdvice = kind === 'string' && isTestPath(path);
    const judged = judgeText(each, isAccepted, isAdvice ? detectScript : detectLanguage);
    if (judged !== null) found.push({ path, line, kind, wanted: expected, isAdvice, ...judged });
  }
  return found.sort((one, other) => one.line - other.line);
}

function judgeText(
  { kind, text }: WrittenText,
  isAccepted: (language: string) => boolean,
  detect: (text: string) => DetectedLanguage | null,
): Pick<LanguageFinding, 'found' | 'confidence' | 'excerpt'> | null {
  if (PLACEHOLDER_TEXT.test(text)) return null;
  const excerpt = cutText(text.slice(0, LONGEST_JUDGED).replace(/\s+/gu, ' ').trim());
  if (kind === 'name') {
    const found = findNameLanguage(text);
    return found === null || isAccepted(found) ? null : { found, confidence: NAME_CONFIDENCE, excerpt };
  }
  const plain = keepPlainText(text.slice(0, LONGEST_JUDGED));
  if (IS_LATIN.test(plain) && plain.split(' ').length < FEWEST_WORDS) return null;
  const detected = detect(plain);
  if (detected === null || detected.confidence < LEAST_CONFIDENCE) return null;
  if (isAccepted(detected.language)) return null;
  return { found: detected.language, confidence: detected.confidence, excerpt };
}

/** Returns the language of a name in another script; Latin letters with accents may be in any name. */
function findNameLanguage(name: string): string | null {
  const letters = name.match(/\p{L}/gu)?.length ?? 0;
  const foreign = name.match(/(?!\p{Script=Latin})\p{L}/gu)?.length ?? 0;
  // A single Greek letter is a mathematical variable.
  return foreign < 2 || foreign * 2 < letters ? null : (detectLanguage(name)?.language ?? null);
}

const cutText = (text: string): string =>
  text.length > LONGEST_EXCERPT ? `${text.slice(0, LONGEST_EXCERPT)}…`.toWellFormed() : text;
