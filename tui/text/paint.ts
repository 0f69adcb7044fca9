import { styleText } from 'node:util';
import { cleanText, makeDrawable } from './text.ts';
import type { StyledLine, Theme } from './theme.ts';

export interface PaintOptions {
  /** Null for no colour. */
  theme: Theme | null;
  /** Nothing is drawn to the right of these lines, so characters of unsure width are shown as they are. */
  isWhole?: boolean | undefined;
}

/**
 * Turns lines into text for the terminal. It cleans everything again, so that even if a pane forgets to, no text from
 * outside moves the cursor, sets a colour or takes more cells than we count.
 */
export function paintLines(lines: readonly StyledLine[], { theme, isWhole = false }: PaintOptions): string {
  return lines
    .map((line) =>
      line
        .map(({ text, style = 'plain', isSelected }) => {
          const shown = isWhole ? cleanText(text) : makeDrawable(text);
          const own = theme?.[style] ?? [];
          const looks = isSelected ? [...(theme?.selected ?? []), ...own] : own;
          if (shown === '' || looks.length === 0) return shown;
          return styleText([...looks], shown, { validateStream: false });
        })
        .join(''),
    )
    .join('\n');
}
