import { SvcError } from '../../engine/index.ts';

export const holderFlag = {
  holder: { type: 'string', value: 'session', about: 'who holds it; SVC_SESSION when not given' },
} as const;

/** Whose lock or claim it is about. A person has no session: they name one. */
export function holderOf({
  flags,
  env,
}: {
  flags: { holder: string | undefined };
  env: NodeJS.ProcessEnv;
}): string {
  const holder = flags.holder ?? env.SVC_SESSION;
  if (holder) return holder;
  throw new SvcError('usage', 'no holder: SVC_SESSION is not set', {
    hint: 'give --holder with a session id, or a name of your own',
  });
}
