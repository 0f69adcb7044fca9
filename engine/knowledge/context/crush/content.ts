import { beginOf } from './lines.ts';

/** Content that is read for its own sake and passes unchanged. */
export type ContentKind = 'diff' | 'grep' | 'paths' | 'source' | 'table';

const DIFF_BEGIN = /^(?:diff --git |diff -|Index: |--- \S|commit [0-9a-f]{7,40}\b|From [0-9a-f]{40} )/;
const COMMIT = /^commit [0-9a-f]{40}\b/;
const HUNK = /^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@|^@@@ /;
const GREP = /^(?:[\w.@~+-]*[/\\.][\w./\\@~+ -]*|[\w-]+)[:-]\d+[:-]/;
const GREP_LEVEL = /^\S+:\d+(?::\d+)?:? (?:fatal |internal )?(?:error|warning|note|remark|info)\b/i;
const GREP_NAMED = /^[\w.@~+-]*(?:\/[\w.@~+-]+)+:(?!\d+:\d|:)\S?/;
/** A prefix of a path: its git state, or the branches of a tree. */
const BEFORE_PATH = /^(?:[ACDMRTU?!][ACDMRTU?! ]? |[ACDMRTU?!] |[│├└─|`\s-]*(?:── |-- ))/;
const PATH_CHARACTERS = /^[^\s:"'<>|]+$/;
const LISTED = /^(?:[-dlcbps][-rwxsStT]{9}[.+@]?\s|total \d+$|\s*\d[\d.]*[KMGT]?\s+\.{0,2}\/?[\w./@~+-]+$)/;
const TREE = /^[│|\s]*[├└+`][─-]+[ ┬]/;
const SOURCE_END = /(?:[{};]|[^.,]\(|=>|\*\/|-->|:\s*#.*|[\w\])}"'],)$/;
const SOURCE_BEGIN =
  /^\s*(?:\/\/(?!\S+:\S)|\/\*|\*\s(?!\[)|\*\/|#include|#define|#if|#endif|#!|<!--|<\/?[a-zA-Z][\w:.-]*(?:\s+[\w:.@-]+=|\s*\/?>)|(?:export |public |private |protected |static |async |pub |abstract |final |unsafe )*(?:import|from|package|using|namespace|def|class|interface|function|const|let|var|return|if \(|for \(|while \(|fn|struct|enum|impl|trait|type|use|mod|func|module|require|include|elif|else:|try:|except|with|raise|assert|yield|await|lambda|SELECT|INSERT|CREATE|UPDATE)\b|@\w+(?:\(|$)|[}\])]+[;,)]*\s*$|end$)/;
/** An assignment, a standalone call, a comment, the quotes of a long string, a string. */
const STATEMENT =
  /^\s*(?:[\w.]+(?:\[[^\]]*\])?(?:, [\w.]+)* [-+*/|&%]?= \S|[\w.]+\([^()]*(?:\([^()]*\)[^()]*)*\);?$|[rbuf]?(?:"""|'[^']*'$|"[^"]*"$)|# \S)/;
/** First lines of program files, which outputs do not have. */
const OPENING =
  /^(?:#!\/|\/\*|\/\/[ !]|\(\*|<!DOCTYPE|<\?(?:xml|php)|<html|package [\w.:]+;?$|#ifndef |#include |#pragma |# -\*- |=head1 |["']{3})/i;
const FRAME = /^\s*(?:at |from |File ")/;
const LOGGED =
  /^\W?\s?(?:\d{4}[-/.]\d\d[-/.]\d\d|\d\d[-/.]\d\d[-/.]\d\d(?:\d\d)?,? \d\d:\d\d|\d\d:\d\d:\d\d|\[?(?:INFO|WARN|WARNING|ERROR|DEBUG|TRACE|FATAL)\b|[✓✔√×✗✖]|\{"[^"]*"\s*:|<s> \[)/;

const share = (lines: readonly string[], isOne: (line: string) => boolean): number =>
  lines.reduce((count, line) => count + (isOne(line) ? 1 : 0), 0) / Math.max(1, lines.length);

/** Returns the content type of a text; null if it may be noise. */
export function findContent(lines: readonly string[], isKnownNoise: () => boolean): ContentKind | null {
  const filled = lines.map(beginOf).filter((line) => line.trim() !== '');
  if (filled.length === 0) return null;
  if (isMarkdown(filled)) return 'source';
  const first = filled[0] as string;
  if (DIFF_BEGIN.test(first) && filled.some((line) => HUNK.test(line) || COMMIT.test(line))) return 'diff';
  if (
    share(filled, (line) => HUNK.test(line) || /^[-+ ]/.test(line)) > 0.8 &&
    filled.some((l) => HUNK.test(l))
  )
    return 'diff';
  // A sample is enough to decide, and gives the same result for the same text.
  const step = Math.ceil(filled.length / 2000);
  const sample = step === 1 ? filled : filled.filter((_, at) => at % step === 0);
  if (isTable(sample) && !isKnownNoise()) return 'table';
  const logged = share(sample, (line) => LOGGED.test(line));
  if (logged > 0.3) return null;
  if (share(sample, isGrepRow) > 0.7) return 'grep';
  if (share(sample, (line) => isPath(line) || LISTED.test(line) || TREE.test(line)) > 0.75) return 'paths';
  const source = share(sample, isSourceLine);
  if (OPENING.test(first) && source > 0.2 && logged < 0.1) return 'source';
  if (source > 0.75 || (source > 0.45 && !isKnownNoise())) return 'source';
  return null;
}

/** Reports whether a text is a document, which may show program output as its content. */
const isMarkdown = (lines: readonly string[]): boolean =>
  lines.filter((line) => /^#{1,5} \p{L}/u.test(line)).length >= 2 &&
  lines.some((line) => /^\s*(?:```|~~~)/.test(line));

/** Ignores the commas of sentences. */
const SEPARATORS = [/,(?! )/, /;(?! )/, /\t/];

/**
 * Reports whether lines are rows with the same number of cells, below a header that differs from them if they start
 * with a time.
 */
function isTable(lines: readonly string[]): boolean {
  const [head = ''] = lines;
  return SEPARATORS.some((separator) => {
    const countCells = (line: string): number => line.split(separator).length;
    const cells = countCells(head);
    if (cells < 2 || LOGGED.test(head) || lines.length < 4) return false;
    return share(lines, (line) => countCells(line) === cells) > 0.9;
  });
}

function isPath(line: string): boolean {
  const path = line.replace(BEFORE_PATH, '').trim();
  return PATH_CHARACTERS.test(path) && (/[/\\]/.test(path) || /\.[\w-]{1,15}$/.test(path));
}

const isGrepRow = (line: string): boolean =>
  (GREP.test(line) && !GREP_LEVEL.test(line)) || GREP_NAMED.test(line) || line === '--';

const isSourceLine = (line: string): boolean =>
  !FRAME.test(line) && (SOURCE_BEGIN.test(line) || SOURCE_END.test(line) || STATEMENT.test(line));
