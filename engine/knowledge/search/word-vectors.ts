import { readFileSync } from 'node:fs';
import { locateWords } from '../../core/base/own-package.ts';

/** Vectors of frequent English words: words with a similar meaning or subject have a large cosine. */
export interface WordVectors {
  /** Returns the place of a word; -1 for an unknown one. */
  find(word: string): number;
  /** Returns the cosine of the words at two places. */
  cosine(one: number, other: number): number;
}

let loaded: WordVectors | undefined;

/** Loads the vectors at the first call: 5 MB in one read, and nothing is decoded before a word is looked up. */
export function loadWordVectors(): WordVectors {
  loaded ??= readWordVectors();
  return loaded;
}

function readWordVectors(): WordVectors {
  const file = readFileSync(locateWords('english.vectors'));
  const [count, dimensions, length] = [0, 4, 8].map((at) => file.readUInt32LE(at)) as [
    number,
    number,
    number,
  ];
  const words = file.toString('latin1', 12, 12 + length).split('\n');
  const values = new Int8Array(file.buffer, file.byteOffset + 12 + length, count * dimensions);
  const sizes = new Float32Array(count);

  function multiply(one: number, other: number): number {
    const [first, second] = [one * dimensions, other * dimensions];
    let sum = 0;
    for (let at = 0; at < dimensions; at += 1)
      sum += (values[first + at] as number) * (values[second + at] as number);
    return sum;
  }

  function sizeOf(place: number): number {
    sizes[place] ||= Math.sqrt(multiply(place, place));
    return sizes[place] as number;
  }

  return {
    find(word) {
      let low = 0;
      let high = count - 1;
      while (low <= high) {
        const middle = (low + high) >> 1;
        const there = words[middle] as string;
        if (there === word) return middle;
        if (there < word) low = middle + 1;
        else high = middle - 1;
      }
      return -1;
    },
    cosine: (one, other) => multiply(one, other) / (sizeOf(one) * sizeOf(other)),
  };
}
