import { countLines } from './chunks.ts';
import { crush } from './crush/index.ts';
import { composeStub, explainRetrieval, findExitCode } from './stub.ts';

// Loaded into the gateway's process, only if it shortens outputs.

/** A smaller share of a text is not worth a replacement. */
const WORTH = 0.1;

/** Returns a program's output without its noise, or a stub of it; null for output without noise, or with little. */
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
