import type { Size } from './model.ts';

/** Reports whether all panes are on the screen. */
export const isWideScreen = ({ columns, rows }: Size): boolean => columns >= 120 && rows >= 34;
