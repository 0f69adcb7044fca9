import type { ScreenSize } from './model.ts';

/** Reports whether all panes are on the screen. */
export const isWideScreen = ({ columns, rows }: ScreenSize): boolean => columns >= 120 && rows >= 34;
