import type { SourceLanguage } from '../../sources/index.ts';
import { readTokens } from '../code/lex.ts';
import { findSyntax } from '../code/syntaxes.ts';
import { NAME, STRING } from '../code/tokens.ts';

/** The role of a text. */
export type TextKind = 'comment' | 'string' | 'name' | 'prose';

/** A piece of a file in natural language. */
export interface WrittenText {
  kind: TextKind;
  text: string;
  /** From 1. */
  line: number;
}

/** Shorter strings are rarely meant for people. */
const FEWEST_WORDS = 3;
const COMMENT_MARKS = /^[ \t]*(?:\/\*+|\*+\/|\*|\/\/+!?|#+!?|"""|''')?[ \t]?|\*+\/[ \t]*$/gmu;
/** Directives for tools, and commented-out code. */
const NO_SENTENCE =
  /^[ \t]*(?:eslint|biome|prettier|ts-|noqa|pylint|type:|go:|nolint|clang-format|!\/)|[;{}]\s*$|\w\(.*\)|=>|:=|==/u;
/** Maximum inspected length of a line. */
const LONGEST_LINE = 1000;
const NOT_ASCII = /[^\u0000-\u007f]/u;

/** Returns the comments, the strings of several words and the names with non-ASCII letters on new lines. */
export function listCodeTexts(text: string, language: SourceLanguage, newLines: Uint8Array): WrittenText[] {
  const tokens = readTokens(text, findSyntax(language));
  const found: WrittenText[] = [];
  for (let at = 0; at < tokens.count; at += 1) {
    const line = tokens.lines[at] as number;
    if (newLines[line] !== 1) continue;
    const kind = tokens.kinds[at];
    const word = text.slice(tokens.starts[at], tokens.ends[at]);
    if (kind === NAME && NOT_ASCII.test(word)) found.push({ kind: 'name', text: word, line });
    // Regular expressions are not for people either.
    if (kind !== STRING || word.startsWith('/')) continue;
    const inner = word.slice(0, LONGEST_LINE).replace(/^[\w@$]*["'`]+|["'`]+$/gu, '');
    if (inner.split(/\s+/u).length >= FEWEST_WORDS || NOT_ASCII.test(inner))
      found.push({ kind: 'string', text: inner, line });
  }
  return [...found, ...listComments(text, tokens.comments, newLines)];
}

/** Returns comments; adjacent line comments are one. */
function listComments(text: string, comments: readonly number[], newLines: Uint8Array): WrittenText[] {
  const found: (WrittenText & { end: number; isLine: boolean })[] = [];
  let line = 1;
  let counted = 0;
  for (let at = 0; at + 1 < comments.length; at += 2) {
    const [from = 0, to = 0] = comments.slice(at, at + 2);
    for (; counted < from; counted += 1) if (text.charCodeAt(counted) === 10) line += 1;
    const lines = text.slice(from, to).replace(COMMENT_MARKS, '').split('\n');
    const kept = lines.filter(
      (each, index) => newLines[line + index] === 1 && !NO_SENTENCE.test(each.slice(0, LONGEST_LINE)),
    );
    if (kept.join('').trim() === '') continue;
    const last = found.at(-1);
    const first = lines.findIndex((_, index) => newLines[line + index] === 1);
    if (last?.isLine && lines.length === 1 && last.end + 1 === line) {
      last.text += `\n${kept.join('\n')}`;
      last.end = line + lines.length - 1;
    } else {
      found.push({
        kind: 'comment',
        text: kept.join('\n'),
        line: line + Math.max(0, first),
        end: line + lines.length - 1,
        isLine: lines.length === 1,
      });
    }
  }
  return found;
}

const FENCE = /^\s*(?:```|~~~)/u;
const QUOTE_OR_TABLE = /^\s*(?:>|\|| {4}|\t)/u;
const FRONT_MATTER = /^---\s*$/u;
const LINK = /!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])/gu;
const MARKUP = /^\s*(?:#{1,6}|[-*+]|\d+[.)]|\.\. \w+::.*)\s*|[*_~]{1,3}/gu;

/** Returns the paragraphs of a document on new lines, without code, tables and quotes. */
export function listProseTexts(text: string, newLines: Uint8Array): WrittenText[] {
  const lines = text.split('\n').map((line) => line.slice(0, LONGEST_LINE));
  const found: WrittenText[] = [];
  let paragraph: string[] = [];
  let begin = 0;
  let isInFence = false;
  let isInFront = FRONT_MATTER.test(lines[0] ?? '');
  const endParagraph = (): void => {
    if (paragraph.length > 0) found.push({ kind: 'prose', text: paragraph.join('\n'), line: begin });
    paragraph = [];
  };
  lines.forEach((line, index) => {
    if (isInFront) {
      if (index > 0 && FRONT_MATTER.test(line)) isInFront = false;
      return;
    }
    if (FENCE.test(line)) {
      isInFence = !isInFence;
      endParagraph();
      return;
    }
    if (isInFence || QUOTE_OR_TABLE.test(line) || line.trim() === '') {
      endParagraph();
      return;
    }
    if (/^\s*(?:#|[-*+]\s)/u.test(line)) endParagraph();
    if (newLines[index + 1] !== 1) return;
    if (paragraph.length === 0) begin = index + 1;
    paragraph.push(line.replace(LINK, '$1').replace(MARKUP, ''));
  });
  endParagraph();
  return found;
}
