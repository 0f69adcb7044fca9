import { countLines } from './chunks.ts';
import { crush } from './crush/index.ts';
import { composeStub, explainRetrieval, findExitCode } from './stub.ts';

// Loaded into the gateway's process, and only where it is to shorten outputs.

/** Below this share of a text it is not worth another text in its place. */
const WORTH = 0.1;

/** What a program has printed without its noise, or a stub of it; null for what is no noise, or little of it. */
export function shortenOutput(
  whole: string,
  { id, crushes, stores, idleMs }: { id: string; crushes: boolean; stores: boolean; idleMs: number },
): { text: string; kind: string } | null {
  if (!crushes && !stores) return null;
  const { text, kind, bytesIn, bytesOut, omissions } = crush(whole, {
    whole: stores ? explainRetrieval(id) : 'run the command again',
  });
  if (omissions.length === 0 || bytesIn - bytesOut < bytesIn * WORTH) return null;
  if (crushes) return { text, kind };
  const facts = { id, bytes: bytesIn, lines: countLines(whole), kind, exitCode: findExitCode(whole), idleMs };
  return { text: composeStub(facts, whole), kind };
}
