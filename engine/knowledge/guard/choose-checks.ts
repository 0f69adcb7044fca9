import { readLocale } from './language/wanted-languages.ts';
import { chooseCopyMode, findProfile, type GuardConfig, type GuardMode } from './profiles.ts';
import type { WantedChecks } from './writes/check-writes.ts';

/** The enabled checks, with the way of reporting. */
interface ChosenChecks {
  copies: GuardMode;
  languages: GuardMode;
  wanted: WantedChecks;
}

/** Selects the findings for which a write or work is refused. Small edits and strings in tests are only advice. */
export function selectRefused<C extends { type: number }, L extends { isAdvice: boolean }>(
  { copies, languages }: { copies: readonly C[]; languages: readonly L[] },
  modes: Pick<ChosenChecks, 'copies' | 'languages'>,
): { copies: C[]; languages: L[] } {
  return {
    copies: modes.copies === 'block' ? copies.filter(({ type }) => type < 3) : [],
    languages: modes.languages === 'block' ? languages.filter(({ isAdvice }) => !isAdvice) : [],
  };
}

/** Creates the choice of the enabled checks, which svc.yaml may change. */
export function createCheckChooser(
  settings: () => { guard: GuardConfig; locale: string; codeLang: string },
): () => ChosenChecks {
  return () => {
    const { guard, locale, codeLang } = settings();
    const copies = chooseCopyMode(guard);
    const { languages } = findProfile(guard);
    const isOn = languages !== 'off';
    const gates = {
      prose: isOn ? readLocale(locale) : null,
      code: isOn ? readLocale(codeLang) : null,
      exclude: guard.language.exclude,
    };
    return { copies, languages, wanted: { copies: copies !== 'off', languages: gates } };
  };
}
