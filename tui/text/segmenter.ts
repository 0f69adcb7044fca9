import { NARROW } from './narrow.ts';

/** Every UTF-16 unit is a grapheme cluster (UAX #29), also of an escape sequence; a carriage return might join a line feed. */
const SIMPLE = new RegExp(`^[\\u0000-\\u000c\\u000e-\\u001f${NARROW}]*$`);

/**
 * Returns a segmenter of grapheme clusters that leaves simple texts, which are almost all, to no library: the first
 * `Intl.Segmenter` takes 10 ms, and each text an object per character. The build gives it to Ink and its packages.
 */
export function createSegmenter(): Pick<Intl.Segmenter, 'segment'> {
  let segmenter: Intl.Segmenter | null = null;
  return {
    segment(text) {
      if (SIMPLE.test(text)) return splitSimpleText(text);
      segmenter ??= new Intl.Segmenter();
      return segmenter.segment(text);
    },
  };
}

function splitSimpleText(input: string): Intl.Segments {
  const segmentAt = (index: number): Intl.SegmentData => ({ segment: input[index] as string, index, input });
  return {
    containing: (index = 0) => (index < 0 || index >= input.length ? undefined : segmentAt(index)) as never,
    [Symbol.iterator]() {
      let index = 0;
      const iterator: Iterator<Intl.SegmentData> = {
        next() {
          if (index >= input.length) return { done: true, value: undefined };
          index += 1;
          return { done: false, value: segmentAt(index - 1) };
        },
      };
      return Object.assign(iterator, { [Symbol.iterator]: () => iterator }) as never;
    },
  };
}
