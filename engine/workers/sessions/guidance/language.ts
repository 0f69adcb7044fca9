import type { GuidanceTexts } from './rules.ts';
import { chinese } from './texts/chinese.ts';
import { english } from './texts/english.ts';
import { french } from './texts/french.ts';
import { german } from './texts/german.ts';
import { japanese } from './texts/japanese.ts';
import { spanish } from './texts/spanish.ts';

/** By language (ISO 639-1). */
const TEXTS: Readonly<Record<string, GuidanceTexts>> = {
  en: english,
  de: german,
  es: spanish,
  fr: french,
  ja: japanese,
  zh: chinese,
};

export interface GuidanceLanguage {
  /** ISO 639-1, such as `de`. */
  language: string;
  texts: GuidanceTexts;
  /** True if `workspace.locale` names a language without texts, or none at all; the texts are English. */
  isFallback: boolean;
}

/**
 * Finds the texts in the language of a locale, such as `de`, `de-DE` (BCP 47) or `de_DE.UTF-8` (POSIX); English for
 * an empty one.
 */
export function chooseLanguage(locale: string): GuidanceLanguage {
  const language = readLanguage(locale);
  const texts = language === null ? undefined : TEXTS[language];
  return texts === undefined || language === null
    ? { language: 'en', texts: english, isFallback: locale !== '' }
    : { language, texts, isFallback: false };
}

function readLanguage(locale: string): string | null {
  try {
    return new Intl.Locale(locale.replace(/[.@].*$/, '').replaceAll('_', '-')).language;
  } catch {
    // Not a language tag.
    return null;
  }
}
