// What programs say about errors.

//@ strerror
// Some text that is not empty.
char *$library_string(void);
char *$strerror(int code)
{
    char *text = $library_string();
    if (text[0] == 0) {
        text[0] = '?';
        text[1] = 0;
    }
    return text;
}

//@ error error_at_line error_message_count error_print_progname
unsigned $error_message_count;
void (*$error_print_progname)(void);
void $direct_vsyslog(int, const char *, __builtin_va_list);
static void $tell(int status, const char *format, __builtin_va_list list)
{
    if ($error_print_progname != 0)
        $error_print_progname();
    $direct_vsyslog(0, format, list);
    $error_message_count++;
    if (status != 0)
        __builtin_exit(status);
}
void $error(int status, int code, const char *format, ...)
{
    __builtin_va_list list;
    __builtin_va_start(list, format);
    $tell(status, format, list);
    __builtin_va_end(list);
}
void $error_at_line(int status, int code, const char *file, unsigned line, const char *format, ...)
{
    __builtin_va_list list;
    __builtin_va_start(list, format);
    $tell(status, format, list);
    __builtin_va_end(list);
}

//@ err errx verr verrx
void $direct_vsyslog(int, const char *, __builtin_va_list);
void $verr(int status, const char *format, __builtin_va_list list)
{
    if (format != 0)
        $direct_vsyslog(0, format, list);
    __builtin_exit(status);
}
void $verrx(int status, const char *format, __builtin_va_list list)
{
    $verr(status, format, list);
}
void $err(int status, const char *format, ...)
{
    __builtin_va_list list;
    __builtin_va_start(list, format);
    $verr(status, format, list);
}
void $errx(int status, const char *format, ...)
{
    __builtin_va_list list;
    __builtin_va_start(list, format);
    $verr(status, format, list);
}

//@ warn warnx vwarn vwarnx
void $direct_vsyslog(int, const char *, __builtin_va_list);
void $vwarn(const char *format, __builtin_va_list list)
{
    if (format != 0)
        $direct_vsyslog(0, format, list);
}
void $vwarnx(const char *format, __builtin_va_list list)
{
    $vwarn(format, list);
}
void $warn(const char *format, ...)
{
    __builtin_va_list list;
    __builtin_va_start(list, format);
    $vwarn(format, list);
    __builtin_va_end(list);
}
void $warnx(const char *format, ...)
{
    __builtin_va_list list;
    __builtin_va_start(list, format);
    $vwarn(format, list);
    __builtin_va_end(list);
}
