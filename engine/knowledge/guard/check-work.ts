import { asSvcError, EXIT } from '../../core/base/errors.ts';
import type { CheckRequest, CheckResult } from './check-project.ts';
import { type createCheckChooser, selectRefused } from './choose-checks.ts';
import { describeCopy } from './describe-copy.ts';
import { describeLanguage } from './describe-language.ts';

/** The findings in finished work, in the form of a test result. */
export interface WorkCheck {
  command: string;
  exitCode: number;
  /** True if no finding is refused. */
  agrees: boolean;
  output: string;
}

/** Limit for finished work. */
const MOST_LINES = 20;

/** Creates the check of finished work. */
export function createWorkCheck({
  chooseChecks,
  checkRange,
  log,
}: {
  chooseChecks: ReturnType<typeof createCheckChooser>;
  checkRange(request: CheckRequest): Promise<CheckResult>;
  log: { warn(facts: object, text: string): void };
}) {
  return async (root: string, range: string): Promise<WorkCheck | null> => {
    const { copies: mode, languages: languageMode, wanted } = chooseChecks();
    const { prose, code } = wanted.languages;
    if (mode !== 'block' && prose === null && code === null) return null;
    const request = {
      root,
      range,
      paths: null,
      wanted,
      signal: AbortSignal.any([]),
      progress: () => undefined,
    };
    const command = `svc guard check --range ${range}`;
    const blocks = mode === 'block' || languageMode === 'block';
    let found: Awaited<ReturnType<typeof checkRange>>;
    try {
      found = await checkRange(request);
    } catch (error) {
      log.warn({ error }, 'work was not checked');
      const output = `it could not be checked: ${asSvcError(error).message}`;
      return blocks ? { command, exitCode: EXIT.failure, agrees: false, output } : null;
    }
    const { languages } = found;
    const refused = selectRefused(found, { copies: mode, languages: languageMode });
    if (refused.copies.length === 0 && languages.length === 0) return null;
    const isRefused = refused.copies.length > 0 || refused.languages.length > 0;
    const lines = [...refused.copies.map(describeCopy), ...languages.map(describeLanguage)];
    return {
      command,
      exitCode: isRefused ? EXIT.denied : 0,
      agrees: !isRefused,
      output: lines.slice(0, MOST_LINES).join('\n'),
    };
  };
}
