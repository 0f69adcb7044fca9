import { FUNCTION_WORDS } from './function-words.ts';
import { isNearLanguage } from './near-languages.ts';

/** Folders that hold texts in several languages. */
const FOLDERS = new Set([
  'i18n',
  'l10n',
  'lang',
  'langs',
  'locale',
  'locales',
  'translation',
  'translations',
]);
/** A language with an optional script and region: `de`, `pt-BR`, `zh_Hant_TW`. */
const TAG = /^[a-z]{2}(?:[-_](?:[a-z]{4}|[a-z]{2}|\d{3})){0,2}$/i;
/** The part of a file name before its tag, as in `messages_fr`. */
const BEFORE_TAG = /^.*?[_-](?=[a-z]{2}(?:[-_]|$))/i;

let names: Intl.DisplayNames | undefined;

/** Reads a locale such as `uz-Cyrl`; null for another word. */
function readTag(word: string): Intl.Locale | null {
  if (!TAG.test(word)) return null;
  names ??= new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' });
  try {
    const locale = new Intl.Locale(word.replaceAll('_', '-'));
    return names.of(locale.language) === undefined ? null : locale;
  } catch {
    return null; // two regions
  }
}

/** Scripts that share characters count as one. */
const HAN = new Set(['Jpan', 'Hans', 'Hant', 'Kore']);

function readScript(locale: Intl.Locale): string {
  const { script = '' } = locale.maximize();
  return HAN.has(script) ? 'Hani' : script;
}

/**
 * Reports whether a text in which a language was found may be in that of a translation: it is the same or a near one,
 * or has the same script, whose languages are not told apart by their words.
 */
export function mayBeTranslation(found: string, locale: Intl.Locale): boolean {
  if (isNearLanguage(found, locale.language)) return true;
  const script = readScript(locale);
  return script === readScript(new Intl.Locale(found)) && !isRecognisedByWords(locale);
}

const isRecognisedByWords = ({ language }: Intl.Locale): boolean => language in FUNCTION_WORDS;

/**
 * Returns the locales that the path of a translation names: those of `locales/de/app.ts`, `README.zh-CN.md` and
 * `messages_fr.py`; none for a translation that names none. Null if it is not a translation.
 */
export function readTranslationLocales(path: string): Intl.Locale[] | null {
  const folders = path.split('/');
  const file = folders.pop() ?? '';
  const [stem = '', ...endings] = file.replace(/\.[^.]*$/, '').split('.');
  const words = [...folders, ...endings, stem, stem.replace(BEFORE_TAG, '')];
  const isAmong = folders.some((folder) => FOLDERS.has(folder.toLowerCase()));
  const locales = words
    .flatMap((word) => readTag(word) ?? [])
    // Elsewhere, `ts` and `io` are rarely Tsonga and Ido.
    .filter((locale) => isAmong || readScript(locale) !== 'Latn' || isRecognisedByWords(locale));
  return isAmong || locales.length > 0 ? locales : null;
}
