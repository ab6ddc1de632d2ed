/* Decode one JPEG image to packed RGB with libjpeg-turbo, which exits the program on an error. */
#include <stddef.h>
#include <stdio.h>

#include <jpeglib.h>

int decode_jpeg(const unsigned char *data, size_t size, unsigned char *out, size_t room) {
    static struct jpeg_decompress_struct decoder;
    static struct jpeg_error_mgr errors;
    if (!decoder.err) {
        decoder.err = jpeg_std_error(&errors);
        jpeg_create_decompress(&decoder);
    }
    jpeg_mem_src(&decoder, data, size);
    jpeg_read_header(&decoder, TRUE);
    decoder.out_color_space = JCS_RGB;
    jpeg_start_decompress(&decoder);
    size_t row = 3 * (size_t)decoder.output_width;
    if (row * decoder.output_height > room) return 1;
    while (decoder.output_scanline < decoder.output_height) {
        JSAMPROW line = out + row * decoder.output_scanline;
        jpeg_read_scanlines(&decoder, &line, 1);
    }
    jpeg_finish_decompress(&decoder);
    return 0;
}
