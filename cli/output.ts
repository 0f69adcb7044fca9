import { toPrintable, toPrintableJson, usesColour } from '../engine/index.ts';
import type { Context } from './command.ts';
import { findPager, showInPager } from './pager.ts';
import { createPaint, toPrintableStyled } from './paint.ts';

export type ColorWhen = 'auto' | 'always' | 'never';

export interface Output extends Pick<Context, 'result' | 'note' | 'remark' | 'paint'> {
  /** Shows what was held back for the pager, then what was noted. */
  flush(): Promise<void>;
}

/** What was asked for on the command line goes before the environment. */
function decideColour(color: ColorWhen | null, env: NodeJS.ProcessEnv, out: { isTTY?: boolean }): boolean {
  if (color === null || color === 'never') return false;
  return color === 'always' || usesColour(env, out);
}

/**
 * How a command prints.
 * @param color what `--color` says; null for a command without it
 * @param isFollowing it prints as things happen, which no pager may hold back
 */
export function createOutput({
  around: { env, stdout, stderr },
  json,
  color,
  isFollowing = false,
}: {
  around: Pick<Context, 'env' | 'stdout' | 'stderr'>;
  json: boolean;
  color: ColorWhen | null;
  isFollowing?: boolean;
}): Output {
  const isColoured = !json && decideColour(color, env, stdout);
  const isPaged = !json && !isFollowing && color !== null && findPager({ env, stdout }) !== null;
  let text = '';
  /** Notes come after the text, and the pager is shown last. */
  let notes = '';

  function formatText(made: string): string {
    if (isColoured) return toPrintableStyled(made);
    return stdout.isTTY ? toPrintable(made, { lines: true }) : made;
  }

  const remark = (line: string): void => {
    const shown = `${toPrintable(line, { lines: true })}\n`;
    if (isPaged) notes += shown;
    else stderr.write(shown);
  };

  return {
    paint: createPaint(isColoured),
    result(value, toText) {
      const out = json ? toPrintableJson(value, 2) : formatText(toText(value));
      if (out === '') return;
      if (isPaged) text += `${out}\n`;
      else stdout.write(`${out}\n`);
    },
    note(line) {
      if (!json) remark(line);
    },
    remark,
    async flush() {
      if (text !== '') await showInPager(text, { env, stdout });
      if (notes !== '') stderr.write(notes);
    },
  };
}
