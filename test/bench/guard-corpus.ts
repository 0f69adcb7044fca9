import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type PreparedCode, readCode } from '../../engine/knowledge/guard/code/read-code.ts';
import { findSyntax } from '../../engine/knowledge/guard/code/syntaxes.ts';
import { createLanguageTable, judgeText, type SourceLanguage } from '../../engine/knowledge/sources/index.ts';

/** Real sources in one language, and unrelated ones. */
export interface Corpus {
  name: string;
  /** Prefix of a comment. */
  comment: string;
  statement(number: number): string;
  files: CorpusCode[];
  foreign: CorpusCode[];
}

export interface CorpusCode {
  path: string;
  language: SourceLanguage;
  code: PreparedCode;
}

const languageOf = createLanguageTable();
const MOST_FILES = 400;

function readFiles(folder: string, pattern: string, exclude: (name: string) => boolean): CorpusCode[] {
  return globSync(pattern, { cwd: folder, exclude })
    .sort()
    .slice(0, MOST_FILES)
    .flatMap((name) => {
      const path = join(folder, name);
      const text = readFileSync(path, 'utf8');
      const language = languageOf(name);
      if (language === null || judgeText(text) !== null) return [];
      return [{ path, language, code: readCode(text, findSyntax(language)) }];
    });
}

const isTest = (name: string): boolean =>
  /(?:^|[/_.])tests?(?:[/_.]|$)|\.d\.[cm]?ts$|node_modules/.test(name);

/** The available sources: this project's, its packages', and Python's if it is installed. */
export function readCorpora(project: string): Corpus[] {
  const packages = join(project, 'node_modules');
  const script = {
    comment: '//',
    statement: (number: number) => `trace.push(${number});`,
  };
  const corpora = [
    {
      ...script,
      name: 'TypeScript',
      files: readFiles(project, '{engine,cli,tui}/**/*.ts', isTest),
      foreign: ['zod/src', 'ajv/lib', 'json-schema-to-ts/src'].flatMap((folder) =>
        readFiles(join(packages, folder), '**/*.ts', isTest),
      ),
    },
    {
      ...script,
      name: 'JavaScript',
      files: readFiles(join(packages, 'undici/lib'), '**/*.js', isTest),
      foreign: ['pino/lib', 'yaml/dist', 'chokidar', 'meow/source', 'autocannon/lib'].flatMap((folder) =>
        readFiles(join(packages, folder), '**/*.js', isTest),
      ),
    },
    {
      comment: '#',
      statement: (number: number) => `trace.append(${number})`,
      name: 'Python',
      files: readFiles('/usr/lib/python3.11', '{*,email/*,asyncio/*,http/*}.py', isTest),
      foreign: readFiles('/usr/lib/python3/dist-packages', '**/*.py', isTest),
    },
  ];
  return corpora.filter(({ files }) => files.length > 0);
}
