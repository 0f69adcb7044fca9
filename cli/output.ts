import { usesColour } from '../engine/core/base/colours.ts';
import { toPrintable, toPrintableJson } from '../engine/core/base/text.ts';
import type { CommandContext } from './command.ts';
import { findPager, showInPager } from './pager.ts';
import { createPaint, toPrintableStyled } from './paint.ts';

export type ColorWhen = 'auto' | 'always' | 'never';

export interface CommandOutput extends Pick<CommandContext, 'result' | 'note' | 'remark' | 'paint'> {
  /** Shows the text buffered for the pager, then the notes. */
  flush(): Promise<void>;
}

/** Explicit options override the environment. */
function decideColour(color: ColorWhen | null, env: NodeJS.ProcessEnv, out: { isTTY?: boolean }): boolean {
  if (color === null || color === 'never') return false;
  return color === 'always' || usesColour(env, out);
}

/**
 * Creates the output of a command.
 * @param color the value of `--color`; null for a command without it
 * @param isFollowing it prints as things happen, which a pager must not delay
 */
export function createOutput({
  around: { env, stdout, stderr },
  json,
  color,
  isFollowing = false,
}: {
  around: Pick<CommandContext, 'env' | 'stdout' | 'stderr'>;
  json: boolean;
  color: ColorWhen | null;
  isFollowing?: boolean;
}): CommandOutput {
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
