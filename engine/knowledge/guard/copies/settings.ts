import type { FingerprintSampling } from './fingerprints.ts';

/** `guard.dup` of svc.yaml, with zeros replaced by the defaults. */
export interface CopySettings {
  /** Tokens in the rolling hash. */
  window: number;
  /** Shortest copy that is reported, in tokens. */
  minTokens: number;
  /** Maximum files that are compared per call. */
  maxFiles: number;
}

const SHORTEST_WINDOW = 10;

/** Reads `guard.dup`, where 0 means the default: 40 tokens, 60 tokens and 5,000 files. */
export function fillCopySettings(dup: {
  window: number;
  min_tokens: number;
  max_files: number;
}): CopySettings {
  const minTokens = Math.max(SHORTEST_WINDOW, dup.min_tokens || 60);
  return {
    minTokens,
    window: Math.min(minTokens, Math.max(SHORTEST_WINDOW, dup.window || 40)),
    maxFiles: dup.max_files || 5000,
  };
}

/** Returns the runs that a complete copy shares, and the shorter ones left in an edited copy. */
export function chooseSamplings({ window, minTokens }: CopySettings): {
  whole: FingerprintSampling;
  edited: FingerprintSampling;
} {
  const short = Math.max(SHORTEST_WINDOW, Math.round(window * 0.4));
  return {
    whole: { window, guaranteed: minTokens },
    edited: { window: short, guaranteed: short + 8 },
  };
}
