# The scripts beside this one read it. It sets `password` to the one of the user that `counterstep serve` connects as. The SQL has
# it between quotes, so its characters are bounded.
password=$(cat "$COUNTERSTEP_PASSWORD_FILE")
case $password in
  *[!A-Za-z0-9._~+=/-]* | '')
    echo 'the password must be of letters, digits and . _ ~ + = / - alone' >&2
    exit 1
    ;;
esac
