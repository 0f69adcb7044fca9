import type { ProjectSetup } from '../workers/runner/setup/index.ts';
import type { ConfigConsent, PendingKey } from './consent.ts';
import type { LoadedConfig } from './load.ts';

/** The values that wait for a person's consent, in wire form. */
export interface ConsentView {
  file: string;
  state: ConfigConsent['state'];
  /** Digest of the file's content; passed back to agree to it. */
  digest: string;
  pending: PendingKey[];
  /** Projects whose current commands, files or folder no one has agreed to. */
  setups: {
    id: string;
    folder: string;
    setup: readonly string[];
    teardown: readonly string[];
    env_files: readonly string[];
    run: ProjectSetup['run'];
    consent: ProjectSetup['consent'];
  }[];
  problem: string | null;
}

export function buildConsentView(
  { file, consent }: Pick<LoadedConfig, 'file' | 'consent'>,
  carried: readonly ProjectSetup[],
): ConsentView {
  const { state, digest, pending, problem } = consent;
  return {
    file,
    state,
    digest,
    pending,
    setups: carried
      .filter((each) => each.consent === 'none' || each.consent === 'changed')
      .map(({ id, folder, setup, teardown, envFiles, run, consent: given }) => ({
        id,
        folder,
        setup,
        teardown,
        env_files: envFiles,
        run,
        consent: given,
      })),
    problem,
  };
}
