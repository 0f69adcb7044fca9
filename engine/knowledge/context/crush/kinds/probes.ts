import { posix } from 'node:path';
import type { NoiseClass, OutputRecogniser } from '../recogniser.ts';

const PROBE: NoiseClass = {
  what: 'more places where a file was sought and later found',
  pattern: /(?!)/,
};

/** A system call about a path, with its result. */
const CALL =
  /^(?:\[pid +\d+\] |\d+ +)?(?:[\d:.]+ )?\w+\((?:AT_FDCWD, )?"([^"]+)".*\) += (-?\d+)(?: (ENOENT|ENOTDIR)\b)?/;

/** strace: a file that a program sought in several places. A file that it never found stays, each place of it. */
const systemCalls: OutputRecogniser = {
  kind: 'log',
  evidence: /-1 ENOENT \(/,
  classes: [],
  mark({ bodies }, marks) {
    const found = new Set<string>();
    for (let at = bodies.length - 1; at >= 0; at -= 1) {
      const [, path = '', result = '', missing] = CALL.exec(bodies[at] as string) ?? [];
      if (path === '') continue;
      const name = posix.basename(path);
      if (missing === undefined && !result.startsWith('-')) found.add(name);
      else if (missing !== undefined && found.has(name)) marks[at] = PROBE;
    }
  },
};

const RESOLVED = /^======== (?:Module name|Type reference directive) '.*' was successfully resolved to /;
const RESOLVING = /^======== Resolving (?:module|type reference directive) '/;
const NOT_THERE =
  /^(?:File '.*' does not exist(?: according to earlier cached lookups)?\.|Directory '.*' does not exist, skipping all lookups in it\.|File name '.*' has a '.*' extension - stripping it\.)$/;

/** `tsc --traceResolution`: places without the module, up to the one that has it. Of a module that was not found all stay. */
const resolutions: OutputRecogniser = {
  kind: 'compiler',
  evidence: /======== Resolving (?:module|type reference directive) '/,
  classes: [
    {
      what: 'more lines about the mode of resolution',
      pattern:
        /^(?:Module resolution kind is not specified, using '.*'\.|Explicitly specified module resolution kind: '.*'\.|Resolving in (?:ESM|CJS) mode with conditions .*\.)$/,
    },
  ],
  mark({ bodies }, marks) {
    let isFound = false;
    for (let at = bodies.length - 1; at >= 0; at -= 1) {
      const body = bodies[at] as string;
      if (body.startsWith('======== ')) isFound = RESOLVED.test(body) && !RESOLVING.test(body);
      else if (isFound && NOT_THERE.test(body)) marks[at] = PROBE;
    }
  },
};

export const probes: readonly OutputRecogniser[] = [systemCalls, resolutions];
