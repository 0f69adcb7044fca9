export const holderFlag = {
  holder: {
    type: 'string',
    value: 'session',
    about: 'who holds it; when not given SVC_SESSION, else the Chair',
  },
} as const;

/** Whose lock or claim it is about. A person without a session holds as the Chair does. */
export const readHolder = ({
  flags,
  env,
}: {
  flags: { holder: string | undefined };
  env: NodeJS.ProcessEnv;
}): string => flags.holder || env.SVC_SESSION || 'me';
