import { createRequire } from 'node:module';
import { join } from 'node:path';
import { detectLanguage } from '../../engine/knowledge/guard/language/detect.ts';
import { isNearLanguage } from '../../engine/knowledge/guard/language/near-languages.ts';
import { type Figure, figure, percentile } from './figure.ts';
import { type LanguageSample, listLanguageSamples } from './language-samples.ts';

/** A language with its confidence; null for none. */
type Detector = (text: string) => { language: string; confidence: number } | null;

/** `npm install --prefix <folder> tinyld franc-min` installs them. */
async function loadPeers(): Promise<[string, Detector][]> {
  const folder = process.env.SVC_BENCH_PEERS;
  if (folder === undefined) return [];
  const require = createRequire(join(folder, 'package.json'));
  const name = 'tinyld';
  const { detectAll } = require(name) as {
    detectAll(text: string): { lang: string; accuracy: number }[];
  };
  const { francAll } = (await import(join(folder, 'node_modules/franc-min/index.js'))) as {
    francAll(text: string, options: { minLength: number }): [string, number][];
  };
  const codes: Record<string, string> = {
    eng: 'en',
    deu: 'de',
    fra: 'fr',
    spa: 'es',
    ita: 'it',
    por: 'pt',
    nld: 'nl',
    pol: 'pl',
    swe: 'sv',
    tur: 'tr',
    ces: 'cs',
    fin: 'fi',
    hun: 'hu',
    ron: 'ro',
    ind: 'id',
    dan: 'da',
    nob: 'nb',
    rus: 'ru',
    ukr: 'uk',
    cmn: 'zh',
    jpn: 'ja',
    kor: 'ko',
    arb: 'ar',
    ell: 'el',
    heb: 'he',
    hin: 'hi',
    bel: 'be',
    bul: 'bg',
    srp: 'sr',
  };
  return [
    [
      'tinyld',
      (text) => {
        const [first] = detectAll(text);
        return first === undefined ? null : { language: first.lang, confidence: first.accuracy };
      },
    ],
    [
      'franc-min',
      (text) => {
        const [[code = '', score = 0] = [], [, second = 0] = []] = francAll(text, { minLength: 3 });
        return code === 'und' ? null : { language: codes[code] ?? code, confidence: score - second };
      },
    ],
  ];
}

interface Score {
  /** Share of all samples that are identified correctly. */
  right: number;
  /**
   * Share of samples in other languages that are found if at most one English sample in a hundred is misidentified.
   */
  found: number;
}

function score(samples: readonly LanguageSample[], detect: Detector): Score {
  const told = samples.map(({ language, text }) => ({ language, found: detect(text) }));
  const right = told.filter(
    ({ language, found }) => found !== null && isNearLanguage(language, found.language),
  );
  const wrong = told
    .filter(({ language, found }) => language === 'en' && found !== null && found.language !== 'en')
    .map(({ found }) => found?.confidence ?? 0);
  const english = samples.filter(({ language }) => language === 'en').length;
  const allowed = Math.floor(english / 100);
  const threshold = wrong.sort((one, other) => other - one)[allowed] ?? -1;
  const foreign = told.filter(({ language }) => language !== 'en');
  const found = foreign.filter(
    ({ found: each }) => each !== null && each.language !== 'en' && each.confidence > threshold,
  );
  return { right: (100 * right.length) / samples.length, found: (100 * found.length) / foreign.length };
}

/** Measures the identification of short texts, compared with two libraries if they are installed. */
export async function languagesBench(): Promise<Figure[]> {
  const samples = listLanguageSamples('known');
  if (process.env.SVC_BENCH_SHOW === 'languages')
    for (const { language, text } of samples) {
      const found = detectLanguage(text);
      if (found === null || !isNearLanguage(found.language, language)) console.error(language, found, text);
    }
  const times: number[] = [];
  const own = score(samples, (text) => {
    const begin = performance.now();
    const found = detectLanguage(text);
    times.push(performance.now() - begin);
    return found;
  });
  const of = samples.length;
  const figures = [
    figure(`languages: told right of ${of} short texts`, own.right, '%'),
    figure('languages: foreign ones found at 1 % of English ones taken for foreign', own.found, '%'),
    figure('languages: one text, p95', percentile(times, 0.95), 'ms'),
  ];
  const heldOut = listLanguageSamples('held out');
  const held = score(heldOut, detectLanguage);
  figures.push(figure(`languages: told right of ${heldOut.length} held out`, held.right, '%'));
  figures.push(figure('languages: foreign ones found of those held out', held.found, '%'));
  for (const [name, detect] of await loadPeers()) {
    const theirs = score(samples, detect);
    const theirHeld = score(heldOut, detect);
    figures.push(figure(`languages: told right, held out, beside ${name}`, held.right, '%', theirHeld.right));
    figures.push(figure(`languages: foreign, held out, beside ${name}`, held.found, '%', theirHeld.found));
    figures.push(figure(`languages: told right, beside ${name}`, own.right, '%', theirs.right));
    figures.push(figure(`languages: foreign ones found, beside ${name}`, own.found, '%', theirs.found));
  }
  return figures;
}
