export const holderFlag = {
  holder: {
    type: 'string',
    value: 'session',
    about: 'holder (SVC_SESSION, or the Chair)',
  },
} as const;

/** Reads the holder of a lock or claim. A person without a session acts as the Chair. */
export const readHolder = ({
  flags,
  env,
}: {
  flags: { holder: string | undefined };
  env: NodeJS.ProcessEnv;
}): string => flags.holder || env.SVC_SESSION || 'me';
