/** One `- [ ]` of a ledger. */
export interface LedgerItem {
  /** Counted from 1, top to bottom. */
  item: number;
  /** Counted from 1. */
  line: number;
  text: string;
  checked: boolean;
}

export interface ParsedLedger {
  items: LedgerItem[];
  /** True if there is a section `## Clarify`, with its items. */
  clarify: { present: boolean; items: LedgerItem[] };
}

const MARKER = /(?:[-*+]|\d{1,9}[.)])[ \t]+/.source;
/** At any depth: nested checklists count too. */
const ITEM = new RegExp(`^[ \\t]*(?:${MARKER})+\\[([ xX])\\](?:[ \\t]+(.*))?$`, 's');
const LIST = new RegExp(`^[ \\t]*${MARKER}`);
/** Text that may precede a fence or a comment: the indentation and marker of its list item. */
const LEAD = new RegExp(`^[ \\t]*(?:${MARKER})*`);
/** No backtick may follow on the line of a backtick fence: that would be inline code. */
const FENCE = /^(?:(`{3,})[^`]*|(~{3,}).*)$/s;
const HEADING = /^ {0,3}(#{1,6})(?=[ \t]|$)/;
const UNDERLINE = /^ {0,3}(=+|-+)[ \t]*$/;
const CLARIFY = /^clarify$/i;
const CLARIFY_LEVEL = 2;

/**
 * Parses the checklist of a Markdown file. Items and headings inside fenced code blocks and HTML comments are
 * ignored. A comment starts at the start of a line, as in Markdown; a `<!--` in the middle of a sentence hides
 * nothing below.
 */
export function parseLedger(source: string): ParsedLedger {
  const lines = source.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/);
  const lastEnd = lines.findLastIndex((line) => line.includes('-->'));
  const found: ParsedLedger = { items: [], clarify: { present: false, items: [] } };
  let fence: string | null = null;
  let inComment = false;
  /** Lines of the paragraph above, which `---` turns into a heading; null if there is none or it is in a list. */
  let paragraph: string[] | null = null;
  let inList = false;
  let inClarify = false;

  function enterHeading(level: number, text: string): void {
    if (level <= CLARIFY_LEVEL) inClarify = level === CLARIFY_LEVEL && CLARIFY.test(removeComments(text));
    if (inClarify) found.clarify.present = true;
    inList = false;
  }

  for (const [index, line] of lines.entries()) {
    if (fence !== null) {
      if (closesFence(line, fence)) fence = null;
      continue;
    }
    if (inComment) {
      inComment = !line.includes('-->');
      continue;
    }
    const above: string[] | null = paragraph;
    const isLazy = inList && (lines[index - 1] ?? '').trim() !== '';
    paragraph = null;
    const bare = line.replace(LEAD, '');
    const opened = FENCE.exec(bare);
    if (opened !== null) {
      fence = opened[1] ?? opened[2] ?? null;
      continue;
    }
    if (bare.startsWith('<!--')) {
      // Deeper in, it may be indented code: then only a closed comment counts.
      inComment = !bare.includes('-->') && (isShallow(line) || lastEnd > index);
      continue;
    }
    const atx = HEADING.exec(line);
    const under = above === null ? null : UNDERLINE.exec(line);
    if (atx !== null) {
      enterHeading(atx[1]?.length ?? 1, stripClosingHashes(line.slice(atx[0].length)));
    } else if (under !== null) {
      enterHeading(under[1]?.startsWith('=') ? 1 : 2, (above ?? []).join(' '));
    } else if (LIST.test(line)) {
      inList = true;
      const item = ITEM.exec(line);
      if (item === null) continue;
      const [, mark, text = ''] = item;
      const entry = {
        item: found.items.length + 1,
        line: index + 1,
        text: removeComments(text),
        checked: mark !== ' ',
      };
      found.items.push(entry);
      if (inClarify) found.clarify.items.push(entry);
    } else if (above !== null && !/^\s*(?:>|$)/.test(line)) {
      above.push(line.trim());
      paragraph = above;
    } else if (/^ {0,3}[^\s><]/.test(line) && !isLazy) {
      paragraph = [line.trim()];
      inList = false;
    }
  }
  return found;
}

/** Removes HTML comments from a line. */
function removeComments(text: string): string {
  let rest = text;
  let seen = '';
  for (;;) {
    const from = rest.indexOf('<!--');
    const to = from < 0 ? -1 : rest.indexOf('-->', from);
    if (to < 0) return (seen + rest).trim();
    seen += rest.slice(0, from);
    rest = rest.slice(to + '-->'.length);
  }
}

/** Removes the closing hashes of a heading: `## Clarify ##`. */
function stripClosingHashes(text: string): string {
  const trimmed = text.trim();
  let end = trimmed.length;
  while (end > 0 && trimmed[end - 1] === '#') end -= 1;
  return end === 0 || /[ \t]/.test(trimmed[end - 1] ?? '') ? trimmed.slice(0, end) : trimmed;
}

function closesFence(line: string, fence: string): boolean {
  const end = line.trim();
  return end.length >= fence.length && end === (fence[0] ?? '').repeat(end.length);
}

const isShallow = (line: string): boolean => /^ {0,3}\S/.test(line);
