export const holderFlag = {
  holder: {
    type: 'string',
    value: 'session',
    about: 'holder (SVC_SESSION, or the Chair)',
  },
} as const;

/** Reads whose lock or claim is meant. A person without a session acts as the Chair. */
export const readHolder = ({
  flags,
  env,
}: {
  flags: { holder: string | undefined };
  env: NodeJS.ProcessEnv;
}): string => flags.holder || env.SVC_SESSION || 'me';
