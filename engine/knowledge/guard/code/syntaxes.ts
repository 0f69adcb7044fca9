import type { SourceLanguage } from '../../sources/index.ts';
import { hashText } from './hash.ts';

/** The lexer's facts about a programming language. */
export interface CodeSyntax {
  /** Its name in `workspace.primary_languages`. */
  name: string;
  /** Hashes of keywords. */
  keywords: ReadonlySet<number>;
  /** Starts a comment up to the end of the line. */
  lineComments: readonly ('//' | '#')[];
  /** Comments between slashes and stars. */
  blockComments: 'none' | 'flat' | 'nested';
  /** Quotes of single-line strings. */
  quotes: string;
  /** Quotes of multi-line strings. */
  longQuotes: string;
  /** True if three double quotes delimit a string; in Python three single quotes too. */
  tripleQuotes: boolean;
  /** Other starts of literals. */
  literals?: 'regex' | 'rust' | 'verbatim' | 'shell';
  /** Words that start a statement which only names other files. */
  imports: ReadonlySet<string>;
  /** The delimiters of a block. */
  blocks: 'braces' | 'indent';
  /** Words that precede a function's name. */
  functionWords: readonly string[];
}

const C_WORDS =
  'if else for while do switch case default break continue return goto sizeof struct union enum typedef static const extern inline volatile void int char float double long short unsigned signed';
const OBJECT_WORDS =
  'class interface extends implements new this super try catch finally throw throws public private protected abstract final instanceof null true false import package boolean byte';
const SCRIPT_WORDS =
  'if else for while do switch case default break continue return function class extends new this super try catch finally throw typeof instanceof in of var let const async await yield delete void null undefined true false import export from as static get set';

interface Declared extends Omit<CodeSyntax, 'name' | 'keywords' | 'imports' | 'functionWords'> {
  keywords: string;
  imports?: string;
  functionWords?: string;
}

const C_LIKE = {
  lineComments: ['//'],
  blockComments: 'flat',
  quotes: '"\'',
  longQuotes: '',
  tripleQuotes: false,
  blocks: 'braces',
} as const;

const SCRIPT = {
  ...C_LIKE,
  longQuotes: '`',
  literals: 'regex',
  keywords: SCRIPT_WORDS,
  imports: 'import',
  functionWords: 'function',
} as const;

const DECLARED: Readonly<Record<Exclude<SourceLanguage, 'tsx'>, Declared>> = {
  typescript: {
    ...SCRIPT,
    keywords: `${SCRIPT_WORDS} interface type enum implements public private protected readonly abstract declare namespace keyof satisfies`,
  },
  javascript: SCRIPT,
  python: {
    lineComments: ['#'],
    blockComments: 'none',
    quotes: '"\'',
    longQuotes: '',
    tripleQuotes: true,
    blocks: 'indent',
    keywords:
      'if elif else for while def class return yield try except finally raise with as import from pass break continue lambda global nonlocal assert del in is not and or async await None True False match case',
    imports: 'import from',
    functionWords: 'def',
  },
  go: {
    ...C_LIKE,
    longQuotes: '`',
    keywords:
      'break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct switch type var nil true false',
    imports: 'import package',
    functionWords: 'func',
  },
  rust: {
    ...C_LIKE,
    blockComments: 'nested',
    longQuotes: '"',
    quotes: '',
    literals: 'rust',
    keywords:
      'as break const continue crate else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while async await dyn',
    imports: 'use',
    functionWords: 'fn',
  },
  java: {
    ...C_LIKE,
    tripleQuotes: true,
    keywords: `${C_WORDS} ${OBJECT_WORDS} synchronized transient native var record sealed permits`,
    imports: 'import package',
  },
  c: { ...C_LIKE, keywords: `${C_WORDS} bool true false NULL` },
  cpp: {
    ...C_LIKE,
    keywords: `${C_WORDS} bool true false nullptr class public private protected virtual override template typename namespace using new delete this try catch throw auto constexpr operator friend`,
    imports: 'using',
  },
  csharp: {
    ...C_LIKE,
    tripleQuotes: true,
    literals: 'verbatim',
    keywords: `${C_WORDS} ${OBJECT_WORDS} namespace using foreach in is as base override virtual sealed internal readonly string object bool decimal var async await get set value yield ref out params delegate event lock where`,
    imports: 'using',
  },
  ruby: {
    lineComments: ['#'],
    blockComments: 'none',
    quotes: '',
    longQuotes: '"\'`',
    tripleQuotes: false,
    literals: 'regex',
    blocks: 'indent',
    keywords:
      'if elsif else unless case when while until for do end def class module return yield begin rescue ensure raise next break redo retry self nil true false and or not in then super lambda proc attr_reader attr_writer attr_accessor',
    imports: 'require require_relative',
    functionWords: 'def',
  },
  php: {
    ...C_LIKE,
    lineComments: ['//', '#'],
    longQuotes: '"\'',
    quotes: '',
    keywords: `if else elseif for foreach while do switch case default break continue return function class interface trait extends implements new try catch finally throw public private protected static abstract final const use namespace echo print isset unset empty array list null true false instanceof as global match fn`,
    imports: 'use namespace require require_once include include_once',
    functionWords: 'function',
  },
  kotlin: {
    ...C_LIKE,
    blockComments: 'nested',
    tripleQuotes: true,
    keywords:
      'as break class continue do else false for fun if in interface is null object package return super this throw true try typealias val var when while import data sealed open override private public internal protected companion suspend by init constructor',
    imports: 'import package',
    functionWords: 'fun',
  },
  swift: {
    ...C_LIKE,
    quotes: '"',
    blockComments: 'nested',
    tripleQuotes: true,
    keywords:
      'as break case catch class continue default defer do else enum extension false fileprivate for func guard if import in init inout internal is let nil open private protocol public repeat return self Self static struct super switch throw throws true try typealias var where while async await weak',
    imports: 'import',
    functionWords: 'func',
  },
  bash: {
    lineComments: ['#'],
    blockComments: 'none',
    quotes: '',
    longQuotes: '"\'`',
    tripleQuotes: false,
    literals: 'shell',
    blocks: 'braces',
    keywords:
      'if then else elif fi for while until do done case esac in function return local export readonly declare set unset echo exit break continue shift trap source',
    imports: 'source',
    functionWords: 'function',
  },
};

const splitWords = (words = ''): string[] => words.split(' ').filter(Boolean);

const SYNTAXES: ReadonlyMap<string, CodeSyntax> = new Map(
  Object.entries(DECLARED).map(([name, { keywords, imports, functionWords, ...rest }]) => [
    name,
    {
      ...rest,
      name,
      keywords: new Set(splitWords(keywords).map((word) => hashText(word, 0, word.length))),
      imports: new Set(splitWords(imports)),
      functionWords: splitWords(functionWords),
    },
  ]),
);

/** Returns the syntax of a language. */
export const findSyntax = (language: SourceLanguage): CodeSyntax =>
  SYNTAXES.get(language === 'tsx' ? 'typescript' : language) as CodeSyntax;
