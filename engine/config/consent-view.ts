import type { ProjectSetup } from '../workers/runner/setup/index.ts';
import type { ConfigConsent, PendingKey } from './consent.ts';
import type { Loaded } from './load.ts';

/** What waits for a person's consent, in the form that clients have. */
export interface ConsentView {
  file: string;
  state: ConfigConsent['state'];
  /** Digest of what the file says; passed back to agree to it. */
  digest: string;
  pending: PendingKey[];
  /** Projects whose commands, files or folder nobody has agreed to in this form. */
  setups: {
    id: string;
    folder: string;
    setup: readonly string[];
    teardown: readonly string[];
    env_files: readonly string[];
    consent: ProjectSetup['consent'];
  }[];
  problem: string | null;
}

export function buildConsentView(
  { file, consent }: Pick<Loaded, 'file' | 'consent'>,
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
      .map(({ id, folder, setup, teardown, envFiles, consent: given }) => ({
        id,
        folder,
        setup,
        teardown,
        env_files: envFiles,
        consent: given,
      })),
    problem,
  };
}
