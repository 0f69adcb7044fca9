/** The value that Google documents for calls of another model: it skips the signature check. */
export const NO_SIGNATURE = 'skip_thought_signature_validator';
