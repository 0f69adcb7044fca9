/**
 * The colours of the picture: terminals define the sixteen colours differently, so these are chosen for legibility.
 */
export const BACKGROUND = '#14171d';
export const FOREGROUND = '#d3d8e0';
export const TITLE_BAR = '#20252e';
export const TITLE = '#9aa3b2';

const SIXTEEN = [
  ...['#2b313c', '#e5707a', '#8fc379', '#dfb96b', '#6cabec', '#c58adf', '#5ebfc6', '#c3c9d3'],
  ...['#7a8494', '#f08c94', '#a9d98f', '#f0cf88', '#8cc3f8', '#d6a6ec', '#80d6dc', '#f2f4f8'],
];

const hex = (...channels) => `#${channels.map((each) => each.toString(16).padStart(2, '0')).join('')}`;

/** Returns colour `index` of the 256: the sixteen, a cube of six steps a side, and 24 greys. */
export function indexed(index) {
  if (index < 16) return SIXTEEN[index];
  if (index >= 232) return hex(...Array(3).fill(8 + (index - 232) * 10));
  const steps = [Math.floor((index - 16) / 36), Math.floor((index - 16) / 6) % 6, (index - 16) % 6];
  return hex(...steps.map((step) => (step === 0 ? 0 : 55 + step * 40)));
}

/** Returns a 24-bit colour. */
export const direct = (red, green, blue) => hex(red & 255, green & 255, blue & 255);

/** Returns the colour half-way to another, which is how dim text looks. */
export function between(one, other) {
  const channels = (colour) => [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
  const [from, to] = [channels(one), channels(other)];
  return hex(...from.map((each, at) => Math.round((each + to[at]) / 2)));
}
