/** Languages that a line of text often cannot distinguish. */
const NEAR = [new Set(['da', 'nb', 'sv', 'no', 'nn']), new Set(['ru', 'uk', 'be', 'bg', 'sr'])];

export const hasNearLanguages = (code: string): boolean => NEAR.some((each) => each.has(code));

/** Reports whether two languages are equal, or so close that a line of text may be either. */
export const isNearLanguage = (one: string, other: string): boolean =>
  one === other || NEAR.some((near) => near.has(one) && near.has(other));
