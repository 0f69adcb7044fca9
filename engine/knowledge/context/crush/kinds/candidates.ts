import type { NoiseClass, OutputRecogniser } from '../recogniser.ts';

const CANDIDATE: NoiseClass = {
  what: 'more lines about candidates in system headers',
  pattern: /(?!)/,
};
/** Locations of headers that do not belong to the project. */
const IN_SYSTEM =
  /^(?:\/(?:usr|opt|nix|Library|Applications|mingw\d*)\/|[A-Z]:[/\\]Program Files)[^:]*:\d+(?::\d+)?: (?:note: | {2,}(?:recursively )?required )/;
const SOURCE_BELOW = /^[ \t]+(?:\d+ )?\|/;

/** A C++ compiler lists each candidate of a call; the error above them states the problem. */
export const candidates: OutputRecogniser = {
  kind: 'compiler',
  evidence: /^\S[^:\n]*:\d+(?::\d+)?: note: (?:candidate|template argument deduction| {2,}template argument)/,
  classes: [],
  mark({ bodies }, marks) {
    for (let at = 0; at < bodies.length; at += 1) {
      if (!IN_SYSTEM.test(bodies[at] as string) || marks[at] !== null) continue;
      marks[at] = CANDIDATE;
      for (let below = at + 1; SOURCE_BELOW.test(bodies[below] ?? ''); below += 1) marks[below] = CANDIDATE;
    }
  },
};
