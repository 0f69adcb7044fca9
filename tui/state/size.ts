import type { Size } from './model.ts';

/** Whether all panes are on the screen at once. */
export const isWideScreen = ({ columns, rows }: Size): boolean => columns >= 120 && rows >= 34;
